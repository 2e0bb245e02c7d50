// `Vec<f32>` is not a buffer on a device
fn main() {
    let _ = warpfold::Device::cpu().graph(vec![1.0f32], warpfold::Sum);
}
