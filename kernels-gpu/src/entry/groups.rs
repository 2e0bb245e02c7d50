//! The entry points of [`groups`](crate::groups): `<kernel>_by_<key>`, such as `group_insert_by_u32`, those without keys
//! ([`GROUPS`]), the family `groups` with `group_combine_<operator>_<element>_by_<key>`, and
//! `groups_in_parts` with `group_collect_...`.
//!
//! Signed keys use the entry points of the same size. The rows list the parameters; `group_combine` has
//!
//! ```text
//! keys: *const K, keys_len: u64, values: *const T, values_len: u64, op: O
//! words: *mut K, words_len: u64, cells: *mut T, cells_len: u64, state: *mut u32, state_len: u64
//! rounds: *mut u32, rounds_len: u64, limit: u64, most_probes: u64, bins: u64
//! ```

#[cfg(all(
    feature = "library",
    any(all(feature = "simulator", not(test)), target_arch = "nvptx64")
))]
use crate::groups::{RADIX, SUM_WORDS, Table, insert, list, moving, parts, sort};

/// Makes entry points and their rows. Behind the kernel's name are the blocks of a multiprocessor, and the most threads of a
/// block if these are not [`THREADS`](crate::groups::THREADS). A parameter is `[in]` an array that is read, `[out]` one that
/// is written with the name of its length, or `[number]`.
#[cfg(feature = "library")]
macro_rules! entries {
    ($rows:ident by [$key:expr; $size:expr] in $module:ident: $(
        $(#[doc = $doc:literal])*
        $name:ident = $kernel:ident [$blocks:expr $(, $threads:expr)?]
        ($(
            $([in] $input:ident: $input_type:ty)?
            $([out] $output:ident / $len:ident: $output_type:ty)?
            $([number] $number:ident)?
        ),*)
        $body:block
    )*) => {
        $(
            $crate::compiled! {
                $(#[doc = $doc])*
                ///
                /// # Safety
                ///
                /// The launch is as the kernel's generic body asks.
                #[allow(clippy::too_many_arguments, reason = "arrays of two each")]
                #[::cuda_std::kernel]
                pub unsafe fn $name(
                    $(
                        $($input: &[$input_type],)?
                        $($output: *mut $output_type, $len: usize,)?
                        $($number: u64,)?
                    )*
                ) {
                    // SAFETY: the caller of the entry point guarantees its arguments and the contract of the generic
                    // body.
                    unsafe {
                        $(
                            $(let $input = $crate::mem::Global::from_slice($input);)?
                            $(let $output = $crate::mem::Global::new($output, $len);)?
                        )*
                        $body
                    }
                }
            }

            $crate::note!($name in $module, *[$crate::groups::THREADS $(, $threads)?].last().unwrap(), $blocks);
        )*

        #[cfg(not(target_arch = "nvptx64"))]
        const $rows: &[super::Entry] = &[$(super::Entry {
            name: stringify!($name),
            module: stringify!($module),
            kernel: stringify!($kernel),
            key: $key,
            read_bytes: [$size, 0, 0],
            // What a kernel stores: indices of 32 bits, or the words themselves.
            acc_bytes: if $size < size_of::<u32>() { $size } else { size_of::<u32>() },
            needs: $crate::needs::Needs::keyed(1),
            parameters: &[$(
                $(super::Parameter::Input(stringify!($input), size_of::<$input_type>()),)?
                $(super::Parameter::Output(stringify!($output), size_of::<$output_type>()),)?
                $(super::Parameter::Number(stringify!($number)),)?
            )*],
            function: $crate::function!(|values| $name($(
                $(values.slice::<$input_type>(),)?
                $({
                    let start: *mut $output_type = values.take();
                    start
                }, values.take(),)?
                $({
                    let $number = values.take();
                    $number
                },)?
            )*)),
            ..super::Entry::EMPTY
        }),*];
    };
}

/// The entry points by a key.
#[cfg(feature = "library")]
macro_rules! by_key {
    ($rows:ident $key:ident $module:ident) => { pastey::paste! { entries! { $rows by [stringify!($key); size_of::<$key>()] in $module:
        #[doc = "[`insert`](crate::groups::insert::insert) without values."]
        [<group_insert_by_ $key>] = group_insert [1, insert::threads_of(size_of::<$key>())] (
            [in] keys: $key, [out] words/words_len: $key, [out] state/state_len: u32, [out] rounds/rounds_len: u32,
            [number] limit, [number] most_probes, [number] bins
        ) {
            let limits = [limit, most_probes].map(|number| number as u32);
            let bins = insert::Bins::new(bins as u32, 0);
            insert::insert(keys, Table { words }, insert::Work::new(state, rounds, limits), insert::Only, bins)
        }
        #[doc = "[`rehash`](crate::groups::list::rehash)."]
        [<group_rehash_by_ $key>] = group_rehash [4] (
            [in] from: $key, [out] to/to_len: $key, [out] moved/moved_len: u32
        ) {
            list::rehash(Table { words: from }, Table { words: to }, moved)
        }
        #[doc = "[`list`](crate::groups::list::list)."]
        [<group_list_by_ $key>] = group_list [4] (
            [in] words: $key, [out] state/state_len: u32, [out] unique/unique_len: $key, [out] slots/slots_len: u32,
            [out] numbers/numbers_len: u32
        ) {
            let shared = $crate::mem::Shared::new($crate::shared_array![u32; list::WORDS]);
            list::list(Table { words }, state, unique, slots, numbers, shared)
        }
        #[doc = "[`number`](crate::groups::list::number)."]
        [<group_number_by_ $key>] = group_number [4] (
            [in] keys: $key, [in] words: $key, [in] numbers: u32, [out] indices/indices_len: u32
        ) {
            list::number(keys, Table { words }, numbers, indices)
        }
        #[doc = "[`sort_count`](crate::groups::sort::sort_count)."]
        [<sort_count_by_ $key>] = sort_count [4] (
            [in] keys: $key, [out] counts/counts_len: u32, [number] shift, [number] flip
        ) {
            let table = $crate::mem::Shared::new($crate::shared_array![u32; RADIX as usize]);
            let digit = sort::Digit { shift: shift as u32, flip };
            sort::sort_count::<$key, { sort::rows_of::<$key>() }>(keys, counts, digit, table)
        }
        #[doc = "[`sort_scatter`](crate::groups::sort::sort_scatter)."]
        [<sort_scatter_by_ $key>] = sort_scatter [2] (
            [in] keys: $key, [in] payloads: u32, [out] keys_out/keys_out_len: $key,
            [out] payloads_out/payloads_out_len: u32, [in] counts: u32, [in] totals: u32, [number] shift, [number] flip
        ) {
            use $crate::mem::Shared;
            use $crate::shared_array;
            sort::sort_scatter::<$key, { sort::rows_of::<$key>() }>(
                sort::Pairs { keys, payloads, keys_out, payloads_out },
                counts,
                totals,
                sort::Digit { shift: shift as u32, flip },
                sort::Memory {
                    counters: Shared::new(shared_array![u32; sort::COUNTERS]),
                    starts: Shared::new(shared_array![u32; RADIX as usize]),
                    offsets: Shared::new(shared_array![u32; RADIX as usize]),
                    words: Shared::new(shared_array![u32; SUM_WORDS]),
                    keys: Shared::new(shared_array![$key; sort::pairs_of_tile::<$key>()]),
                    payloads: Shared::new(shared_array![u32; sort::pairs_of_tile::<$key>()]),
                },
            )
        }
    } } };
}

/// The entry points that move words.
#[cfg(feature = "library")]
macro_rules! moving {
    ($rows:ident $word:ident) => {
        pastey::paste! { entries! { $rows by [""; size_of::<$word>()] in groups:
            #[doc = "[`gather`](crate::groups::moving::gather)."]
            [<gather_ $word>] = gather [8] (
                [in] from: $word, [in] indices: u32, [out] to/to_len: $word, [number] per_value
            ) {
                moving::gather(from, indices, to, per_value as usize)
            }
            #[doc = "[`scatter`](crate::groups::moving::scatter)."]
            [<scatter_ $word>] = scatter [8] (
                [in] from: $word, [in] indices: u32, [out] to/to_len: $word, [number] per_value
            ) {
                moving::scatter(from, indices, to, per_value as usize)
            }
            #[doc = "[`fill`](crate::groups::moving::fill)."]
            [<fill_ $word>] = fill [8] ([out] to/to_len: $word, [number] value) {
                moving::fill(to, value as $word)
            }
        } }
    };
}

#[cfg(feature = "library")]
by_key!(ROWS_U32 u32 groups_u32);
#[cfg(feature = "library")]
by_key!(ROWS_U64 u64 groups_u64);
#[cfg(feature = "library")]
moving!(ROWS_8 u8);
#[cfg(feature = "library")]
moving!(ROWS_16 u16);
#[cfg(feature = "library")]
moving!(ROWS_WORD u32);
#[cfg(feature = "library")]
moving!(ROWS_LONG u64);

#[cfg(feature = "library")]
entries! { ROWS_SCAN by [""; size_of::<u32>()] in groups:
    /// [`sort_scan`](crate::groups::sort::sort_scan).
    sort_scan = sort_scan [4] ([out] counts/counts_len: u32, [out] totals/totals_len: u32) {
        let words = crate::mem::Shared::new(crate::shared_array![u32; SUM_WORDS]);
        sort::sort_scan(counts, totals, words)
    }
    /// [`invert`](crate::groups::moving::invert).
    invert = invert [8] ([in] indices: u32, [out] to/to_len: u32) {
        moving::invert(indices, to)
    }
}

#[cfg(feature = "library")]
entries! { ROWS_PARTS by ["u32"; size_of::<u32>()] in groups_u32:
    /// [`sample`](crate::groups::parts::sample::sample).
    group_sample_by_u32 = group_sample [1, parts::sample::THREADS] ([in] keys: u32, [out] parts/parts_len: u32) {
        parts::sample::sample(keys, parts)
    }
    /// [`split`](crate::groups::parts::split::split).
    group_split_by_u32 = group_split [2, parts::split::THREADS] (
        [in] keys: u32, [in] values: u32, [out] pairs/pairs_len: u64, [out] parts/parts_len: u32, [number] capacity
    ) {
        use crate::mem::Shared;
        use crate::shared_array;
        use parts::split::{Memory, WARPS, split};
        use parts::{PARTS, Pairs};
        let memory = Memory {
            counts: Shared::new(shared_array![u32; PARTS as usize]),
            starts: Shared::new(shared_array![u32; PARTS as usize]),
            offsets: Shared::new(shared_array![u32; PARTS as usize]),
            words: Shared::new(shared_array![u32; WARPS]),
            is_lost: Shared::new(shared_array![u32; 1]),
            pairs: Shared::dynamic(),
        };
        split(keys, values, Pairs { pairs, parts, capacity: capacity as u32 }, memory)
    }
}

#[cfg(all(feature = "library", not(target_arch = "nvptx64")))]
const TABLES: &[&[super::Entry]] = &[
    ROWS_U32, ROWS_U64, ROWS_PARTS, ROWS_8, ROWS_16, ROWS_WORD, ROWS_LONG, ROWS_SCAN,
];

/// The entry points that need no operator.
#[cfg(all(feature = "library", not(target_arch = "nvptx64")))]
pub static GROUPS: super::Kernels = super::Kernels {
    name: "groups",
    entries: &ENTRIES,
};

#[cfg(all(feature = "library", not(target_arch = "nvptx64")))]
static ENTRIES: [super::Entry; super::count(TABLES)] = super::numbered(TABLES, &GROUPS);

/// The row of a kernel for words, or keys, of this size; `sort_scan` and `invert` have one for 4 bytes.
#[cfg(all(feature = "library", not(target_arch = "nvptx64")))]
pub fn of(kernel: &str, bytes: usize) -> Option<&'static super::Entry> {
    let mut rows = GROUPS.entries.iter();
    rows.find(|row| row.kernel == kernel && row.read_bytes[0] == bytes)
}

/// The row of `group_combine` for this operator over these items, in the list that has `row`, for keys of this size.
#[cfg(not(target_arch = "nvptx64"))]
pub fn combine_of(row: &super::Entry, key_bytes: usize) -> Option<&'static super::Entry> {
    of_family("group_combine", row, key_bytes)
}

/// The row of `group_collect` for the same, if there is one.
#[cfg(not(target_arch = "nvptx64"))]
pub fn collect_of(row: &super::Entry, key_bytes: usize) -> Option<&'static super::Entry> {
    of_family("group_collect", row, key_bytes)
}

#[cfg(not(target_arch = "nvptx64"))]
fn of_family(kernel: &str, row: &super::Entry, key_bytes: usize) -> Option<&'static super::Entry> {
    let mut rows = row.set.entries.iter();
    rows.find(|other| {
        other.kernel == kernel
            && (other.op, other.items) == (row.op, row.items)
            && other.read_bytes[0] == key_bytes
    })
}

/// The family `groups`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_groups {
    (
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op_type:ty] [$element:ty] [$($arrays:tt)*] [$key:ty]
    ) => {
        $crate::pastey::paste! {
            $crate::compiled! {
                #[$crate::entry::parts::kernel]
                pub unsafe fn [<group_combine_ $suffix>](
                    keys: &[$key],
                    values: &[$element],
                    op: $op_type,
                    words: *mut $key,
                    words_len: usize,
                    cells: *mut $element,
                    cells_len: usize,
                    state: *mut u32,
                    state_len: usize,
                    rounds: *mut u32,
                    rounds_len: usize,
                    limit: u64,
                    most_probes: u64,
                    bins: u64,
                ) {
                    use $crate::entry::groups_parts::*;
                    // SAFETY: the caller of the entry point guarantees its arguments and the contract of the generic
                    // body. The values of the bins are at the start of the dynamic memory.
                    unsafe {
                        insert::insert(
                            Global::<$key>::from_slice(keys),
                            Table { words: Global::new(words, words_len) },
                            insert::Work::new(
                                Global::new(state, state_len),
                                Global::new(rounds, rounds_len),
                                [limit, most_probes].map(|number| number as u32),
                            ),
                            insert::Combine {
                                op,
                                values: Global::from_slice(values),
                                cells: Global::new(cells, cells_len),
                                bins: Shared::<$element>::dynamic(),
                            },
                            insert::Bins::new(bins as u32, size_of::<$element>()),
                        )
                    }
                }
            }

            $crate::note!(
                [<group_combine_ $suffix>] in $module,
                $crate::groups::insert::threads_of(size_of::<$key>()),
                1
            );

            #[cfg(not(target_arch = "nvptx64"))]
            const $rows: &[$crate::entry::Entry] = {
                use $crate::entry::{Entry, Parameter, groups_parts::*};
                &[Entry {
                    name: stringify!([<group_combine_ $suffix>]),
                    module: stringify!($module),
                    kernel: "group_combine",
                    op: $op_name,
                    items: $items_name,
                    key: $key_name,
                    read_bytes: [size_of::<$key>(), size_of::<$element>(), 0],
                    acc_bytes: size_of::<$element>(),
                    needs: Needs::keyed(1),
                    parameters: &[
                        Parameter::Input("keys", size_of::<$key>()),
                        Parameter::Input("values", size_of::<$element>()),
                        Parameter::Value(size_of::<$op_type>()),
                        Parameter::Output("words", size_of::<$key>()),
                        Parameter::Output("cells", size_of::<$element>()),
                        Parameter::Output("state", size_of::<u32>()),
                        Parameter::Output("rounds", size_of::<u32>()),
                        Parameter::Number("limit"),
                        Parameter::Number("most_probes"),
                        Parameter::Number("bins"),
                    ],
                    function: $crate::function!(|values| [<group_combine_ $suffix>](
                        values.slice::<$key>(),
                        values.slice::<$element>(),
                        values.operator::<$op_type>(),
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
        }
    };
}

/// The family `groups_in_parts`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_groups_in_parts {
    (
        $suffix:ident $module:ident [$op_name:literal $items_name:literal $key_name:literal]
        [$rows:ident $number:literal] [$op_type:ty] [$element:ty] [$($arrays:tt)*] [$key:ty]
    ) => {
        $crate::pastey::paste! {
            $crate::compiled! {
                #[$crate::entry::parts::kernel]
                pub unsafe fn [<group_collect_ $suffix>](
                    pairs: &[u64],
                    op: $op_type,
                    parts: *mut u32,
                    parts_len: usize,
                    unique: *mut $key,
                    unique_len: usize,
                    results: *mut $element,
                    results_len: usize,
                    capacity: u64,
                    bins: u64,
                ) {
                    use $crate::entry::groups_parts::*;
                    // SAFETY: the caller of the entry point guarantees its arguments and the contract of the generic
                    // body. The pairs are only read.
                    unsafe {
                        collect::<$element, $op_type>(
                            op,
                            Pairs {
                                pairs: Global::from_slice(pairs),
                                parts: Global::new(parts, parts_len),
                                capacity: capacity as u32,
                            },
                            Collected {
                                unique: Global::new(unique, unique_len),
                                results: Global::new(results, results_len),
                            },
                            bins as u32,
                            Shared::new(shared_array![u32; collect::WORDS]),
                        )
                    }
                }
            }

            $crate::note!(
                [<group_collect_ $suffix>] in $module,
                $crate::groups::parts::collect::THREADS,
                2
            );

            #[cfg(not(target_arch = "nvptx64"))]
            const $rows: &[$crate::entry::Entry] = {
                use $crate::entry::{Entry, Parameter, groups_parts::*};
                &[Entry {
                    name: stringify!([<group_collect_ $suffix>]),
                    module: stringify!($module),
                    kernel: "group_collect",
                    op: $op_name,
                    items: $items_name,
                    key: $key_name,
                    read_bytes: [size_of::<$key>(), size_of::<$element>(), 0],
                    acc_bytes: size_of::<$element>(),
                    needs: Needs::keyed(1),
                    parameters: &[
                        Parameter::Input("pairs", size_of::<u64>()),
                        Parameter::Value(size_of::<$op_type>()),
                        Parameter::Output("parts", size_of::<u32>()),
                        Parameter::Output("unique", size_of::<$key>()),
                        Parameter::Output("results", size_of::<$element>()),
                        Parameter::Number("capacity"),
                        Parameter::Number("bins"),
                    ],
                    function: $crate::function!(|values| [<group_collect_ $suffix>](
                        values.slice::<u64>(),
                        values.operator::<$op_type>(),
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
        }
    };
}
