//! Static arrays in shared memory.

/// Reserves shared memory for `len` elements, a constant, and gives a `*mut T` to the first:
/// `shared_array![f32; 256]`.
///
/// Each place in the source is one array, which every evaluation of it gives again. It is one for all
/// instances of a generic function, too. The memory is uninitialised; aligned for `T`.
#[doc(hidden)]
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {{
        #[::cuda_std::address_space(shared)]
        static mut ARRAY: [::core::mem::MaybeUninit<$element>; $len] =
            [const { ::core::mem::MaybeUninit::uninit() }; $len];
        $crate::device::array_of_block((&raw mut ARRAY).cast::<$element>(), $len)
    }};
}
