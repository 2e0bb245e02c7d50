//! The entry points of [`keyed::count`](crate::keyed::count): `<kernel>_by_<key>`, such as `count_few_by_u8`.
//!
//! Signed keys use the entry points of the same size. The parameters are
//! `keys: *const K, keys_len: u64, cells: *mut u64, cells_len: u64, rejected: *mut u64, rejected_len: u64, below: u64`.

/// Makes the entry points for keys, and their rows.
macro_rules! counts {
    ($rows:ident: $($kernel:ident $counters:tt by $($key:ident)*;)*) => {
        $($(counts!(@function $key $kernel $counters);)*)*

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[&[super::Entry]] = &[$(&[$(counts!(@row $key $kernel)),*]),*];
    };

    (@function $key:ident $kernel:ident [$($len:ident),*]) => { pastey::paste! {
        $crate::compiled! {
            #[doc = concat!("`", stringify!($kernel), "` for keys of the size of `", stringify!($key), "`.")]
            ///
            /// # Safety
            ///
            /// The launch is as the kernel's generic body asks.
            #[::cuda_std::kernel]
            pub unsafe fn [<$kernel _by_ $key>](
                keys: &[$key],
                cells: *mut u64,
                cells_len: usize,
                rejected: *mut u64,
                rejected_len: usize,
                below: u64,
            ) {
                use $crate::keyed::{Rejected, count::*};
                use $crate::mem::{Global, Shared};
                // SAFETY: the caller of the entry point guarantees its arguments and the contract of the generic
                // body.
                unsafe {
                    let task = Task {
                        keys: Global::from_slice(keys),
                        cells: Global::new(cells, cells_len),
                        rejected: Rejected(Global::new(rejected, rejected_len)),
                        below: below as usize,
                    };
                    $kernel(task, $(Shared::new($crate::shared_array![u32; $len])),*)
                }
            }
        }

        $crate::note!(
            [<$kernel _by_ $key>] in [<count_ $key>],
            $crate::keyed::count::THREADS,
            $crate::keyed::count::BLOCKS
        );
    } };

    (@row $key:ident $kernel:ident) => { pastey::paste! { super::Entry {
        name: stringify!([<$kernel _by_ $key>]),
        module: stringify!([<count_ $key>]),
        kernel: stringify!($kernel),
        key: stringify!($key),
        read_bytes: [size_of::<$key>(), 0, 0],
        acc_bytes: size_of::<u64>(),
        needs: $crate::needs::Needs::counts(16 / size_of::<$key>()),
        parameters: &[
            super::Parameter::Input("keys", size_of::<$key>()),
            super::Parameter::Output("cells", size_of::<u64>()),
            super::Parameter::Output("rejected", size_of::<u64>()),
            super::Parameter::Number("below"),
        ],
        function: $crate::function!(|values| [<$kernel _by_ $key>](
            values.slice::<$key>(),
            values.take(),
            values.take(),
            values.take(),
            values.take(),
            values.take(),
        )),
        ..super::Entry::EMPTY
    } } };
}

counts! { ROWS:
    count_few [COUNTERS] by u8 u16 u32 u64;
    // Keys of 8 bits name few cells.
    count_many [OWNED, OWNED] by u16 u32 u64;
}

/// The entry points that count keys.
#[cfg(not(target_arch = "nvptx64"))]
pub static COUNTS: super::Kernels = super::Kernels {
    name: "counts",
    entries: &ENTRIES,
};

#[cfg(not(target_arch = "nvptx64"))]
static ENTRIES: [super::Entry; super::count(ROWS)] = super::numbered(ROWS, &COUNTS);

/// The row that counts keys of `key_bytes` bytes, if those from `below` on have no cell; `None` for other widths.
#[cfg(not(target_arch = "nvptx64"))]
pub fn of(key_bytes: usize, below: u64) -> Option<&'static super::Entry> {
    let kernel = match below <= crate::keyed::count::MOST_FEW as u64 {
        true => "count_few",
        false => "count_many",
    };
    let mut rows = COUNTS.entries.iter();
    rows.find(|row| row.kernel == kernel && row.read_bytes[0] == key_bytes)
}
