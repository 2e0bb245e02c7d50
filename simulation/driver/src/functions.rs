//! Defines the driver's functions from their bodies.

use cust_raw::CUresult;

/// Defines functions of the driver, and `lookup`, which finds them by name. The body's result becomes the
/// function's result code.
macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(non_snake_case, reason = "the name in the CUDA driver API")]
            unsafe extern "C" fn $name($($arg: $ty),*) -> cust_raw::CUresult {
                $crate::functions::code(|| $body)
            }

            // Compiles only if the signature agrees with cust_raw's.
            const _: unsafe extern "C" fn($($ty),*) -> cust_raw::CUresult = cust_raw::$name;
        )*

        pub fn lookup(name: &str) -> Option<std::ptr::NonNull<std::ffi::c_void>> {
            let function = match name {
                $(stringify!($name) => $name as *mut std::ffi::c_void,)*
                _ => return None,
            };
            std::ptr::NonNull::new(function)
        }
    };
}
pub(crate) use functions;

pub fn code(body: impl FnOnce() -> Result<(), CUresult>) -> CUresult {
    body().err().unwrap_or(CUresult::CUDA_SUCCESS)
}

/// Stores a result.
///
/// # Safety
///
/// `pointer` is null or valid for a write of one value.
pub unsafe fn put<T>(pointer: *mut T, value: T) -> Result<(), CUresult> {
    if pointer.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: not null (checked above), so it is valid by the contract.
    unsafe { pointer.write(value) };
    Ok(())
}
