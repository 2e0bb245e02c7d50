// `Buffer<i32>` is not an array on a device
// help: consider borrowing here
fn main() {
    let device = warpfold::Device::cpu();
    let x = device.upload(&[1i32, 2]).unwrap();
    let _ = device.reduce(x, warpfold::Sum).run();
}
