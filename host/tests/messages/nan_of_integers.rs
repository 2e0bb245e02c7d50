// `i32` is not a floating-point number
fn main() {
    let device = warpfold::Device::cpu();
    let x = device.upload(&[1i32]).unwrap();
    let _ = device.weighted_mean(&x, &x);
}
