// `&mut Buffer<i32>` cannot store elements of type `i64`
// expected `&mut Buffer<i64>` or a `ViewMut<i64>`
fn main() {
    let device = warpfold::Device::cpu();
    let x = device.upload(&[1i32]).unwrap();
    let mut cells = device.alloc::<i32>(1).unwrap();
    let mut scratch = device.scratch().unwrap();
    let _ = device.reduce_into(&x, warpfold::SumWide, &mut cells, 0, &mut scratch);
}
