//! Static arrays in shared memory.

/// Reserves shared memory for a constant number of elements and returns a `*mut T` to the first:
/// `shared_array![f32; 256]`.
///
/// Each occurrence in the source is one array, and every evaluation of it returns the same array. All instances
/// of a generic function share it. The memory is uninitialised and aligned for `T`.
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
