//! The entries of a copy: functions that read their arguments and call the copy's body.

mod groups;
mod lanes;

use crate::copy::Tree;

/// The operators and elements of copies' entries, for kernels that are named without them: the bugs do not
/// depend on them.
const PAIRS: [(&str, &str); 2] = [("Sum", "i32"), ("Max", "i32")];

/// The key type of copies' entries that reduce by key.
const KEY: &str = "u32";

/// The entries that count keys, by kernel: the key and the tables in shared memory.
const COUNTS: [(&str, &str, &str); 3] = [
    ("count_few", "u8", "COUNTERS"),
    ("count_few", "u32", "COUNTERS"),
    ("count_many", "u16", "OWNED OWNED"),
];

/// The element sizes of copies that are launched: words and bytes differ most.
const SIZES: [(&str, &str); 2] = [("b8", "u8"), ("b32", "u32")];

/// The single-pass entries by name: the operator, and the items of each array.
const SINGLE_PASS: [(&str, &str, &[&str]); 17] = [
    ("single_pass_sum_i32", "Sum", &["i32"]),
    ("single_pass_max_i32", "Max", &["i32"]),
    ("single_pass_sum_wide_i32", "SumWide", &["i32"]),
    (
        "single_pass_count_less_i32_i32",
        "Count<Less<i32>>",
        &["i32"],
    ),
    ("single_pass_dot_i32_i32", "Dot", &["i32", "i32"]),
    ("single_pass_dot_f32_f32", "Dot", &["f32", "f32"]),
    // 12 bytes.
    (
        "single_pass_arg_min_indexed_i32",
        "ArgMin",
        &["Indexed<i32>"],
    ),
    // 16 bytes, aligned to 8.
    (
        "single_pass_arg_min_indexed_i64",
        "ArgMin",
        &["Indexed<i64>"],
    ),
    ("single_pass_arg_min_i32", "ArgMin", &["i32"]),
    // Partials of six words.
    ("single_pass_sum_squares_f64", "SumSquares", &["f64"]),
    ("single_pass_horner_u32", "Horner", &["u32"]),
    ("single_pass_horner_u32_3", "Horner", &["[u32; 3]"]),
    ("single_pass_horner_u32_u8", "Horner", &["u32", "u8"]),
    (
        "single_pass_volume_f32_f64_i8",
        "Volume",
        &["f32", "f64", "i8"],
    ),
    ("single_pass_mean_variance_i8", "MeanVariance", &["i8"]),
    // Accumulators of 3 bytes in 16 slots.
    ("single_pass_parity_u8_3", "Parity", &["[u8; 3]"]),
    ("single_pass_parity_u16_4", "Parity", &["[u16; 4]"]),
];

/// The entries of exact sums by name: the operator, and the items of each array.
const EXACT: [(&str, &str, &[&str]); 4] = [
    ("exact_sum_f32", "Sum", &["f32"]),
    ("exact_sum_f64", "Sum", &["f64"]),
    // Terms of two floats.
    ("exact_sum_squares_f64", "SumSquares", &["f64"]),
    ("exact_dot_f32_f32", "Dot", &["f32", "f32"]),
];

/// The segmented reductions by name: the operator, and the items of each array.
const SEGMENTS: [(&str, &str, &[&str]); 3] = [
    ("segments_sum_f32", "Sum", &["f32"]),
    ("segments_horner_u32", "Horner", &["u32"]),
    // Selects its result.
    ("segments_arg_max_f32", "ArgMax", &["f32"]),
];

/// The reductions along axes by name: the operator, and the items of each array.
const AXES: [(&str, &str, &[&str]); 4] = [
    // Vectors of four columns.
    ("axes_sum_f32", "Sum", &["f32"]),
    // Not commutative.
    ("axes_horner_u32", "Horner", &["u32"]),
    // Any order.
    ("axes_max_i32", "Max", &["i32"]),
    // Rows that are absorbed together, in vectors of four columns.
    ("axes_arg_max_f32", "ArgMax", &["f32"]),
];

/// The entries that find runs by name: the keys, in a type of the copy.
const RUNS: [(&str, &str); 3] = [
    ("find_runs_u32", "u32"),
    ("find_runs_u64", "u64"),
    ("find_runs_point", "[f32; 3]"),
];

/// Reads the parameters of a segmented reduction that stand first.
const OFFSETS: &str = "use super::segments::*;
    let shape: Shape = values.take();
    let offsets = Offsets::new(
        shape,
        Global::from_slice(values.slice()),
        Global::from_slice(values.slice()),
    );";

/// Reads those that stand last.
const WORK: &str = "let work = |values: &mut kernels_gpu::entry::Values| {
        let words = Global::new(values.take(), values.take());
        let counts = Global::new(values.take(), values.take());
        Work::new(words, counts, shape)
    };";

/// Reads the others.
const STORAGE: &str = "let output = Global::new(values.take(), values.take());
    let partials = Global::new(values.take(), values.take());
    let storage = Storage { output, partials, work: work(&mut values) };";

/// An entry of a copy.
#[derive(Clone, Debug)]
pub struct Program {
    /// The entry in the lists.
    pub name: String,
    kernel: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    SinglePass {
        op: &'static str,
        items: &'static [&'static str],
    },
    Exact {
        op: &'static str,
        items: &'static [&'static str],
    },
    Partition,
    Window {
        op: &'static str,
        items: &'static [&'static str],
    },
    Combine {
        op: &'static str,
        items: &'static [&'static str],
    },
    ByPart {
        op: &'static str,
        items: &'static [&'static str],
    },
    Columns {
        op: &'static str,
        items: &'static [&'static str],
    },
    CombineColumns {
        op: &'static str,
        items: &'static [&'static str],
    },
    Runs {
        key: &'static str,
    },
    Groups,
    Reduction {
        op: &'static str,
        element: &'static str,
    },
    Keyed {
        op: &'static str,
        element: &'static str,
    },
    Count {
        key: &'static str,
        tables: &'static str,
    },
    Copy {
        element: &'static str,
    },
    Lanes,
}

impl Program {
    /// The entries of a kernel, or those of a single-pass reduction, an exact sum, a segmented reduction, a reduction along
    /// axes, or of runs and groups with this name.
    pub fn of(kernel: &str) -> Vec<Self> {
        let program = |name: String, kind| Self {
            name,
            kernel: kernel.to_owned(),
            kind,
        };
        let named = |entries: &[(&str, &'static str, &'static [&'static str])]| {
            let found = entries.iter().find(|(name, ..)| *name == kernel);
            let &(_, op, items) =
                found.unwrap_or_else(|| panic!("there is no copied entry {kernel}"));
            (op, items)
        };
        if kernel.starts_with("single_pass_") {
            let (op, items) = named(&SINGLE_PASS);
            return vec![program(kernel.to_owned(), Kind::SinglePass { op, items })];
        }
        if kernel.starts_with("exact_") {
            let (op, items) = named(&EXACT);
            return vec![program(kernel.to_owned(), Kind::Exact { op, items })];
        }
        if let Some(of) = kernel.strip_prefix("segments_") {
            let (op, items) = named(&SEGMENTS);
            return vec![
                program("segments_partition".into(), Kind::Partition),
                program(kernel.to_owned(), Kind::Window { op, items }),
                program(
                    format!("segments_combine_{of}"),
                    Kind::Combine { op, items },
                ),
                program(format!("segments_by_part_{of}"), Kind::ByPart { op, items }),
            ];
        }
        if let Some(of) = kernel.strip_prefix("axes_") {
            let (op, items) = named(&AXES);
            return vec![
                program(kernel.to_owned(), Kind::Columns { op, items }),
                program(
                    format!("axes_combine_{of}"),
                    Kind::CombineColumns { op, items },
                ),
            ];
        }
        if kernel.starts_with("find_runs_") {
            let found = RUNS.iter().find(|(name, _)| *name == kernel);
            let &(_, key) = found.unwrap_or_else(|| panic!("there is no copied entry {kernel}"));
            return vec![program(kernel.to_owned(), Kind::Runs { key })];
        }
        if let Some(name) = lanes::entry(kernel) {
            return vec![program(name.into(), Kind::Lanes)];
        }
        if groups::is_entry(kernel) {
            return vec![program(kernel.to_owned(), Kind::Groups)];
        }
        if kernel.starts_with("count_") {
            let counts = COUNTS.into_iter().filter(|(name, ..)| *name == kernel);
            let of_key = |(_, key, tables)| {
                program(format!("{kernel}_by_{key}"), Kind::Count { key, tables })
            };
            return counts.map(of_key).collect();
        }
        if kernel.starts_with("copy_") {
            let sizes = SIZES.into_iter();
            let of_size =
                |(size, element)| program(format!("{kernel}_{size}"), Kind::Copy { element });
            return sizes.map(of_size).collect();
        }
        let pairs = PAIRS.into_iter();
        let of_pair = |(op, element): (&'static str, &'static str)| {
            let name = format!("{kernel}_{}_{element}", op.to_lowercase());
            match kernel.starts_with("keyed_") {
                true => program(format!("{name}_by_{KEY}"), Kind::Keyed { op, element }),
                false => program(name, Kind::Reduction { op, element }),
            }
        };
        pairs.map(of_pair).collect()
    }

    /// Whether the function may refer to the operators of [`FOREIGN`](crate::copy::FOREIGN).
    pub fn has_foreign(&self) -> bool {
        matches!(
            self.kind,
            Kind::SinglePass { .. }
                | Kind::Window { .. }
                | Kind::Combine { .. }
                | Kind::ByPart { .. }
                | Kind::Columns { .. }
                | Kind::CombineColumns { .. }
        )
    }

    /// The modules that the function refers to.
    pub fn modules(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::SinglePass { .. } => &["single_pass", "grid", "items", "op", "mem", "element"],
            Kind::Exact { .. } => &["exact_sum", "items", "op", "mem", "element"],
            Kind::Partition => &["segments", "mem"],
            Kind::Window { .. } | Kind::Combine { .. } | Kind::ByPart { .. } => {
                &["segments", "items", "op", "mem", "element"]
            }
            Kind::Columns { .. } | Kind::CombineColumns { .. } => {
                &["axes", "items", "op", "mem", "element"]
            }
            Kind::Runs { .. } => &["runs", "mem", "element"],
            Kind::Groups => &["groups", "op", "mem"],
            Kind::Reduction { .. } => &["harris", "kepler", "ceiling", "op", "mem"],
            Kind::Keyed { .. } | Kind::Count { .. } => &["keyed", "op", "mem"],
            Kind::Copy { .. } => &["copy", "mem"],
            Kind::Lanes => lanes::modules(&self.kernel),
        }
    }

    /// The function's source.
    pub fn function(&self, tree: &Tree) -> String {
        let Self { name, kernel, .. } = self;
        let arrays_of = |items: &[&str]| {
            let arrays = "Global::from_slice(values.slice()), ".repeat(items.len());
            let arrays = arrays.trim_end_matches(", ");
            let types = items.join(", ");
            format!(
                "type I = ({types});
                let arrays: <I as Items>::Arrays = ({arrays});"
            )
        };
        let body = match self.kind {
            Kind::SinglePass { op, items } => {
                let arrays = arrays_of(items);
                format!(
                    "use super::{{element::*, foreign::*, grid::TempStorage, items::Items, op::*}};
                    type O = {op};
                    {arrays}
                    let op = operator::<O>(&mut values);
                    let storage = TempStorage {{
                        partials: Partials::new(values.take(), values.take()),
                        arrivals: Global::new(values.take(), values.take()),
                        result: Global::new(values.take(), 1),
                        scratch: Shared::dynamic(),
                        arrival: Shared::new(kernels_gpu::shared_array![u32; 1]),
                    }};
                    const N: usize = <I as Items>::VECTOR;
                    const K: usize = <I as Items>::IN_FLIGHT;
                    super::single_pass::single_pass::<I, O, N, K>(op, arrays, storage);"
                )
            }
            Kind::Exact { op, items } => {
                let (arrays, number) = (arrays_of(items), items.len());
                format!(
                    "use super::{{element::*, exact_sum::*, items::Items, op::*}};
                    {arrays}
                    const N: usize = <I as Items>::VECTOR;
                    exact_sum::<I, {op}, N, {{ rows_of({number}) }}>(
                        arrays,
                        Shared::dynamic(),
                        Global::new(values.take(), values.take()),
                        Global::new(values.take(), values.take()),
                        Global::new(values.take(), values.take()),
                        Global::new(values.take(), values.take()),
                    );"
                )
            }
            Kind::Partition => format!(
                "{OFFSETS}
                {WORK}
                partition::partition(offsets, work(&mut values));"
            ),
            Kind::Window { op, items } => {
                let arrays = arrays_of(items);
                format!(
                    "use super::{{element::*, foreign::*, items::Items, op::*}};
                    {arrays}
                    let op = operator::<{op}>(&mut values);
                    {OFFSETS}
                    {WORK}
                    {STORAGE}
                    const N: usize = <I as Items>::VECTOR;
                    const K: usize = <I as Items>::IN_FLIGHT;
                    window::window::<I, {op}, N, K>(op, arrays, offsets, storage);"
                )
            }
            Kind::ByPart { op, items } => {
                let arrays = arrays_of(items);
                format!(
                    "use super::{{element::*, foreign::*, items::Items, op::*}};
                    {arrays}
                    let op = operator::<{op}>(&mut values);
                    {OFFSETS}
                    let storage = by_part::Storage {{
                        output: Global::new(values.take(), values.take()),
                        partials: Global::new(values.take(), values.take()),
                        reports: Reports::new(Global::new(values.take(), values.take())),
                        arrivals: Global::new(values.take(), values.take()),
                    }};
                    const N: usize = <I as Items>::VECTOR;
                    const K: usize = <I as Items>::IN_FLIGHT;
                    by_part::by_part::<I, {op}, N, K>(op, arrays, offsets, storage);"
                )
            }
            Kind::Combine { op, items } => {
                let types = items.join(", ");
                format!(
                    "use super::{{element::*, foreign::*, op::*}};
                    let op = operator::<{op}>(&mut values);
                    {OFFSETS}
                    {WORK}
                    {STORAGE}
                    combine::combine::<({types}), {op}>(op, offsets, storage);"
                )
            }
            Kind::Columns { op, items } => {
                let arrays = arrays_of(items);
                format!(
                    "use super::{{axes::*, element::*, foreign::*, items::Items, op::*}};
                    {arrays}
                    let op = operator::<{op}>(&mut values);
                    let shape: Shape = values.take();
                    const N: usize = <I as Items>::VECTOR;
                    const K: usize = <I as Items>::IN_FLIGHT;
                    const W: usize = width_of::<I, {op}>();
                    columns::columns::<I, {op}, N, K, W>(
                        op,
                        arrays,
                        shape,
                        Global::new(values.take(), values.take()),
                        Global::new(values.take(), values.take()),
                    );"
                )
            }
            Kind::CombineColumns { op, items } => {
                let types = items.join(", ");
                format!(
                    "use super::{{axes::*, element::*, foreign::*, op::*}};
                    let op = operator::<{op}>(&mut values);
                    let shape: Shape = values.take();
                    combine::combine::<({types}), {op}>(
                        op,
                        shape,
                        Global::new(values.take(), values.take()),
                        Global::new(values.take(), values.take()),
                    );"
                )
            }
            Kind::Runs { key } => format!(
                "use super::runs::*;
                type K = {key};
                const N: usize = keys_of_row::<K>();
                const ROWS: usize = rows_of::<K>();
                find_runs::<K, N, ROWS>(
                    Global::from_slice(values.slice()),
                    Starts {{
                        unique: Global::new(values.take(), values.take()),
                        narrow: Global::new(values.take(), values.take()),
                        wide: Global::new(values.take(), values.take()),
                    }},
                    Work {{
                        tiles: Global::new(values.take(), values.take()),
                        arrivals: Global::new(values.take(), values.take()),
                        runs: Global::new(values.take(), values.take()),
                        epoch: values.take(),
                    }},
                );"
            ),
            Kind::Groups => groups::body(name),
            Kind::Lanes => lanes::body(kernel),
            Kind::Reduction { op, element } => format!(
                "use super::{{ceiling, harris::*, kepler::*}};
                type T = {element};
                type O = super::op::{op};
                let input = Global::<T>::from_slice(values.slice());
                let op = operator::<O>(&mut values);
                let output = Global::<T>::new(values.take(), values.take());
                let scratch = Shared::<T>::dynamic();
                {};",
                tree.body(kernel)
            ),
            Kind::Keyed { op, element } => format!(
                "use super::keyed::{{Keys, Rejected, Task, atomic::*, bins::{{self, *}}, peers::*, runs::{{self, *}}, warp::*}};
                type K = {KEY};
                type T = {element};
                type O = super::op::{op};
                let (keys, elements) = (values.slice(), values.slice());
                let op = operator::<O>(&mut values);
                let cells = Global::new(values.take(), values.take());
                let rejected = Rejected(Global::new(values.take(), values.take()));
                let task = Task::<K, T> {{
                    keys: Keys::new(keys, values.take()),
                    values: Global::from_slice(elements),
                    cells,
                    rejected,
                    below: values.take(),
                }};
                {};",
                tree.body(kernel).replace("shared_array!", "kernels_gpu::shared_array!")
            ),
            Kind::Count { key, tables } => {
                let tables = tables.split(' ').map(|len| {
                    format!(", Shared::new(kernels_gpu::shared_array![u32; {len}])")
                });
                let tables: String = tables.collect();
                format!(
                    "use super::keyed::{{Rejected, count::*}};
                    let task = Task::<{key}> {{
                        keys: Global::from_slice(values.slice()),
                        cells: Global::new(values.take(), values.take()),
                        rejected: Rejected(Global::new(values.take(), values.take())),
                        below: values.take(),
                    }};
                    {kernel}(task{tables});"
                )
            }
            Kind::Copy { element } => format!(
                "let from = Global::<{element}>::from_slice(values.slice());
                let to = Global::<{element}>::new(values.take(), values.take());
                super::copy::{kernel}(from, to);"
            ),
        };
        format!(
            "pub unsafe fn {name}(values: *const *const ()) {{
            use super::mem::*;
            use crate::operator;
            let mut values = kernels_gpu::entry::Values(values);
            unsafe {{ {body} }} }}\n"
        )
    }
}
