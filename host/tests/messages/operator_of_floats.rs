// there is no single-pass kernel for `And` over `f32`
fn main() {
    let device = warpfold::Device::cpu();
    let x = device.upload(&[1.0f32]).unwrap();
    let _ = device.reduce(&x, warpfold::And).run();
}
