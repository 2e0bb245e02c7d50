// `f32` cannot be a key
// a key must be an integer: `u8`, `u16`, `u32`, `u64`, `i8`, `i16`, `i32` or `i64`
fn main() {
    let device = warpfold::Device::cpu();
    let (keys, x) = (device.upload(&[1.0f32]).unwrap(), device.upload(&[1.0f32]).unwrap());
    let _ = device.reduce_by_key(&keys, &x, 2, warpfold::Sum);
}
