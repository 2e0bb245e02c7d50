//! A program that has installed another driver.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;

use cust_raw::CUresult;
use libcuda::InUse;

unsafe extern "C" fn init(flags: c_uint) -> c_int {
    if flags == 0 { 0 } else { 225 }
}

fn lookup(name: &str) -> Option<NonNull<c_void>> {
    (name == "cuInit").then(|| NonNull::new(init as *mut c_void).expect("functions are not null"))
}

fn nothing(_: &str) -> Option<NonNull<c_void>> {
    None
}

#[test]
fn it_answers_and_stays() {
    // SAFETY: `init` has the type that cust_raw declares for `cuInit`, with a C int for the enum.
    assert_eq!(unsafe { libcuda::install(lookup) }, Ok(()));
    // SAFETY: it returns no function.
    assert_eq!(unsafe { libcuda::install(nothing) }, Err(InUse));
    assert_eq!(libcuda::driver(), Ok(()));

    // SAFETY: `init` has no requirements.
    let (result, _) = libcuda::record(|| unsafe { cust_raw::cuInit(0) });
    assert_eq!(result, CUresult::CUDA_SUCCESS);
    // SAFETY: as above.
    let (_, failure) = libcuda::record(|| unsafe { cust_raw::cuInit(1) });
    assert_eq!(failure.map(|failure| failure.code), Some(225));

    let mut count = -1;
    // SAFETY: a pointer to an integer.
    let result = unsafe { cust_raw::cuDeviceGetCount(&mut count) };
    assert_eq!((result, count), (CUresult::CUDA_ERROR_NOT_FOUND, -1));
    assert_eq!(libcuda::error_name(100), None);
}
