//! The entry points of [`copy`](crate::copy): `copy_<width>_<size of an element>`, such as `copy_vec4_b32`.
//!
//! A copy depends only on the size of an element: the entry point for `b32` copies `i32`, `u32` and `f32`. The
//! parameters are `input: *const T, input_len: u64, output: *mut T, output_len: u64`; both arrays have the same
//! length.

/// Makes entry points of copies, and their rows. The brackets contain the bytes per access; `T` is the element.
macro_rules! copies {
    ($rows:ident in $module:ident: [$($element:ident $size:ident),*] x $kernels:tt) => {
        $(copies!(@functions $module $element $size $kernels);)*

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[&[$crate::entry::Entry]] = &[$(copies!(@rows $module $element $size $kernels)),*];
    };

    (@functions $module:ident $element:ident $size:ident { $($kernel:ident [$bytes:expr];)* }) => {
        pastey::paste! { $(
            $crate::compiled! {
                #[doc = concat!("`", stringify!($kernel), "` for elements of the size of `", stringify!($element), "`.")]
                ///
                /// # Safety
                ///
                /// The launch is as the kernel's generic body asks, and `output_len` is the length of
                /// `input`.
                #[::cuda_std::kernel]
                pub unsafe fn [<$kernel _ $size>](
                    input: &[$element],
                    output: *mut $element,
                    output_len: usize,
                ) {
                    use $crate::mem::Global;
                    // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                    // generic body.
                    unsafe {
                        $crate::copy::$kernel(Global::from_slice(input), Global::new(output, output_len))
                    }
                }
            }

            $crate::note!([<$kernel _ $size>] in $module);
        )* }
    };

    (@rows $module:ident $element:ident $size:ident { $($kernel:ident [$bytes:expr];)* }) => {
        pastey::paste! { &[$($crate::entry::Entry {
            name: stringify!([<$kernel _ $size>]),
            module: stringify!($module),
            kernel: stringify!($kernel),
            items: stringify!($size),
            read_bytes: [size_of::<$element>(), 0, 0],
            needs: $crate::needs::Needs::any_grid(
                $crate::needs::Scratch::None,
                $crate::needs::Load::Elements({
                    #[allow(dead_code, reason = "most kernels have a width of their own")]
                    type T = $element;
                    $bytes / size_of::<T>()
                }),
            ),
            parameters: &[
                $crate::entry::Parameter::Input("input", size_of::<$element>()),
                $crate::entry::Parameter::Output("output", size_of::<$element>()),
            ],
            function: $crate::function!(|values| [<$kernel _ $size>](
                values.slice::<$element>(),
                values.take(),
                values.take(),
            )),
            ..$crate::entry::Entry::EMPTY
        }),*] }
    };
}

pub(super) use copies;
