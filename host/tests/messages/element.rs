// `String` cannot be an element of an array on a device
// elements are numbers, arrays of elements, and `#[repr(C)]` structures with `#[derive(Element)]`
fn main() {
    let _ = warpfold::Device::cpu().upload(&[String::new()]);
}
