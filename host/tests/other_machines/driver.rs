//! A fake CUDA driver: one device of compute capability 9.0 that allocates any amount of memory and ignores
//! writes. `main.rs` compiles it as `libcuda.so.1`.
//!
//! `FAKE_INIT` is the result of `cuInit`. `FAKE_LOAD` has the results of the module loads, in order; the last
//! is repeated.

use std::env;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

const MAJOR: c_int = 75;
const MINOR: c_int = 76;

fn result(variable: &str, call: usize) -> c_int {
    let results = env::var(variable).unwrap_or_default();
    let mut results = results.split(' ').map(|code| code.parse().unwrap_or(0));
    let last = results.clone().last().unwrap_or(0);
    results.nth(call).unwrap_or(last)
}

fn store<T>(to: *mut T, value: T) -> c_int {
    // SAFETY: every driver function passes a valid pointer for one value.
    unsafe { to.write(value) };
    0
}

fn store_text(to: *mut c_char, size: usize, text: &CStr) -> c_int {
    let text = text.to_bytes_with_nul();
    assert!(text.len() <= size);
    // SAFETY: the caller guarantees enough memory for the text.
    unsafe { to.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
    0
}

macro_rules! driver {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $body:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($arg: $ty),*) -> c_int {
                $body
            }
        )*
    };
}

driver! {
    fn cuInit(_flags: c_uint) result("FAKE_INIT", 0);
    fn cuDriverGetVersion(version: *mut c_int) store(version, 13_000);
    fn cuGetErrorName(_code: c_int, name: *mut *const c_char) store(name, c"A_NAME".as_ptr());
    fn cuGetErrorString(_code: c_int, text: *mut *const c_char) store(text, c"a text".as_ptr());

    fn cuDeviceGetCount(count: *mut c_int) store(count, 1);
    fn cuDeviceGet(device: *mut c_int, index: c_int) store(device, index);
    fn cuDeviceGetName(name: *mut c_char, size: c_int, _device: c_int)
        store_text(name, size as usize, c"Fake");
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) store(bytes, usize::MAX);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int)
        store(value, match attribute { MAJOR => 9, MINOR => 0, _ => 1024 });

    fn cuDevicePrimaryCtxRetain(context: *mut usize, _device: c_int) store(context, 1);
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) 0;
    fn cuCtxSetCurrent(_context: usize) 0;
    fn cuCtxSynchronize() 0;
    fn cuStreamCreateWithPriority(stream: *mut usize, _flags: c_uint, _priority: c_int)
        store(stream, 1);
    fn cuStreamSynchronize(_stream: usize) 0;
    fn cuStreamIsCapturing(_stream: usize, status: *mut c_int) store(status, 0);
    fn cuStreamDestroy_v2(_stream: usize) 0;

    fn cuMemAlloc_v2(address: *mut u64, _bytes: usize) store(address, 1 << 32);
    fn cuMemsetD8Async(_address: u64, _byte: u8, _bytes: usize, _stream: usize) 0;
    fn cuMemFree_v2(_address: u64) 0;

    fn cuModuleLoadDataEx(
        module: *mut usize,
        _image: *const c_void,
        options: c_uint,
        _names: *const c_uint,
        values: *const *mut c_char
    ) {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let result = result("FAKE_LOAD", CALLS.fetch_add(1, Ordering::Relaxed));
        if result == 0 {
            return store(module, 1);
        }
        if options == 2 {
            // SAFETY: the only call with options passes the log's address and its size.
            let (log, size) = unsafe { (*values, (*values.add(1)).addr()) };
            store_text(log, size, c"a line of the log");
        }
        result
    };
    fn cuModuleGetFunction(function: *mut usize, _module: usize, _name: *const c_char)
        store(function, 1);
    fn cuFuncGetAttribute(value: *mut c_int, _attribute: c_int, _function: usize)
        store(value, 1024);
    fn cuModuleUnload(_module: usize) 0;
}
