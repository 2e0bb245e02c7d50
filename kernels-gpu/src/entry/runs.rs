//! The family `runs`: [`find_runs`](crate::runs::find_runs) for a type of keys. There is no operator: a list names the
//! comparison, `PartialEq`, in its place. The entry points are `find_runs_<key>`, with the parameters
//!
//! ```text
//! keys: *const K, keys_len: u64, unique: *mut K, unique_len: u64
//! narrow: *mut u32, narrow_len: u64, wide: *mut u64, wide_len: u64
//! tiles: *mut u64, tiles_len: u64, arrivals: *mut u32, arrivals_len: u64
//! runs: *mut u64, runs_len: u64, epoch: u64
//! ```

/// The family `runs`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_runs {
    (
        $suffix:ident $module:ident [$op_name:literal $key_name:literal $no_key:literal]
        [$rows:ident $number:literal] [PartialEq] [$key:ty] [$array:ident: $element:ty]
    ) => {
        $crate::pastey::paste! {
            $crate::compiled! {
                #[$crate::entry::parts::kernel]
                pub unsafe fn [<find_runs_ $key_name>](
                    keys: &[$key],
                    unique: *mut $key,
                    unique_len: usize,
                    narrow: *mut u32,
                    narrow_len: usize,
                    wide: *mut u64,
                    wide_len: usize,
                    tiles: *mut u64,
                    tiles_len: usize,
                    arrivals: *mut u32,
                    arrivals_len: usize,
                    runs: *mut u64,
                    runs_len: usize,
                    epoch: u64,
                ) {
                    use $crate::entry::runs_parts::*;
                    // SAFETY: the caller of the entry point guarantees its arguments and the contract of the
                    // generic body.
                    unsafe {
                        find_runs::<$key, { keys_of_row::<$key>() }, { rows_of::<$key>() }>(
                            Global::from_slice(keys),
                            Starts {
                                unique: Global::new(unique, unique_len),
                                narrow: Global::new(narrow, narrow_len),
                                wide: Global::new(wide, wide_len),
                            },
                            Work {
                                tiles: Global::new(tiles, tiles_len),
                                arrivals: Global::new(arrivals, arrivals_len),
                                runs: Global::new(runs, runs_len),
                                epoch,
                            },
                        )
                    }
                }
            }

            $crate::note!(
                [<find_runs_ $key_name>] in $module,
                $crate::runs::THREADS,
                $crate::runs::BLOCKS
            );

            #[cfg(not(target_arch = "nvptx64"))]
            const $rows: &[$crate::entry::Entry] = {
                use $crate::entry::{Entry, Parameter, runs_parts::*};
                &[Entry {
                    name: concat!("find_runs_", $key_name),
                    module: stringify!($module),
                    kernel: "find_runs",
                        items: $key_name,
                    read_bytes: [size_of::<$key>(), 0, 0],
                    acc_bytes: size_of::<u64>(),
                    needs: Needs {
                        per_thread: Some(keys_of_thread::<$key>() as u32),
                        scratch: Scratch::Bytes(shared_bytes::<$key>()),
                        result: ResultIn::Cells,
                        load: Load::Element,
                    },
                    parameters: &[
                        Parameter::Input("keys", size_of::<$key>()),
                        Parameter::Output("unique", size_of::<$key>()),
                        Parameter::Output("narrow", size_of::<u32>()),
                        Parameter::Output("wide", size_of::<u64>()),
                        Parameter::Output("tiles", size_of::<u64>()),
                        Parameter::Output("arrivals", size_of::<u32>()),
                        Parameter::Output("runs", size_of::<u64>()),
                        Parameter::Number("epoch"),
                    ],
                    function: $crate::function!(|values| [<find_runs_ $key_name>](
                        values.slice::<$key>(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                        values.take(),
                    )),
                    ..Entry::EMPTY
                }]
            };

            // SAFETY: the row above is that of the entry point for these keys.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::entry::RunKey for $key {
                const ENTRY: &'static $crate::entry::Entry =
                    &$crate::entry::part(&ENTRIES, TABLES, $number)[0];
            }
        }
    };
}
