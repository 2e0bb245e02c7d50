// `&Vec<f32>` is not an array on a device
// upload host data first, `let x = device.upload(&data)?;`, and pass the buffer by reference: `&x`
fn main() {
    let data = vec![1.0f32, 2.0];
    let _ = warpfold::Device::cpu().sum(&data);
}
