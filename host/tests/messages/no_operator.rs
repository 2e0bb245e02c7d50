// there is no single-pass kernel for `Mine` over `f32`
// no kernel reduces `f32` by `Mine`
struct Mine;

fn main() {
    let device = warpfold::Device::cpu();
    let x = device.upload(&[1.0f32]).unwrap();
    let _ = device.reduce(&x, Mine).run();
}
