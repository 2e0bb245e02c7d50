//! The entries of groups: functions that read their arguments and call the copy's body.

/// Puts keys into a table; `{}` stands for the statements between keys and table, and `{}` for the sink.
const INSERT: [&str; 3] = [
    "let keys = Global::<K>::from_slice(values.slice());",
    "let table = Table::<K> { words };
    let work = insert::Work::new(
        Global::new(values.take(), values.take()),
        Global::new(values.take(), values.take()),
        [values.take::<u64>() as u32, values.take::<u64>() as u32],
    );
    let bins = values.take::<u64>() as u32;",
    "insert::insert(keys, table, work, sink, insert::Bins::new(bins, value_bytes));",
];

/// Reads a digit of the sort.
const DIGIT: &str = "let digit = sort::Digit {
        shift: values.take::<u64>() as u32,
        flip: values.take(),
    };";

const ROWS: &str = "const ROWS: usize = sort::rows_of::<K>();";

/// The words without keys, which have types of other names.
const OF_NO_KEY: [&str; 3] = ["gather", "scatter", "fill"];

/// Whether an entry with this name is one of groups.
pub fn is_entry(name: &str) -> bool {
    name.starts_with("group_")
        || name.starts_with("sort_")
        || name == "invert"
        || OF_NO_KEY.contains(&name.split('_').next().unwrap_or_default())
}

/// The body of an entry.
pub fn body(name: &str) -> String {
    let (kernel, key) = match (name.split_once("_by_"), name) {
        (Some((kernel, key)), _) => (kernel, key),
        (None, "sort_scan" | "invert") => (name, "u32"),
        (None, _) => name.rsplit_once('_').expect("the word is in the name"),
    };
    let [keys, work, call] = INSERT;
    let code = match kernel {
        "group_insert" => format!(
            "{keys}
            let words = Global::new(values.take(), values.take());
            {work}
            let (sink, value_bytes) = (insert::Only, 0);
            {call}"
        ),
        "group_rehash" => "list::rehash::<K>(
                Table { words: Global::from_slice(values.slice()) },
                Table { words: Global::new(values.take(), values.take()) },
                Global::new(values.take(), values.take()),
            );"
        .into(),
        "group_list" => "list::list::<K>(
                Table { words: Global::from_slice(values.slice()) },
                Global::new(values.take(), values.take()),
                Global::new(values.take(), values.take()),
                Global::new(values.take(), values.take()),
                Global::new(values.take(), values.take()),
                Shared::new(shared_array![u32; list::WORDS]),
            );"
        .into(),
        "group_number" => "list::number::<K>(
                Global::from_slice(values.slice()),
                Table { words: Global::from_slice(values.slice()) },
                Global::from_slice(values.slice()),
                Global::new(values.take(), values.take()),
            );"
        .into(),
        "group_sample" => "parts::sample::sample(
                Global::<K>::from_slice(values.slice()),
                Global::new(values.take(), values.take()),
            );"
        .into(),
        "group_split" => {
            "let (keys, items) = (Global::<K>::from_slice(values.slice()), values.slice());
            let pairs = Global::new(values.take(), values.take());
            let parts = Global::new(values.take(), values.take());
            let capacity = values.take::<u64>() as u32;
            const PARTS: usize = parts::PARTS as usize;
            parts::split::split(
                keys,
                Global::from_slice(items),
                parts::Pairs { pairs, parts, capacity },
                parts::split::Memory {
                    counts: Shared::new(shared_array![u32; PARTS]),
                    starts: Shared::new(shared_array![u32; PARTS]),
                    offsets: Shared::new(shared_array![u32; PARTS]),
                    words: Shared::new(shared_array![u32; parts::split::WARPS]),
                    is_lost: Shared::new(shared_array![u32; 1]),
                    pairs: Shared::dynamic(),
                },
            );"
            .into()
        }
        "group_collect_sum_f32" => "let pairs = Global::from_slice(values.slice());
            let op = operator::<super::op::Sum>(&mut values);
            let parts = Global::new(values.take(), values.take());
            let to = parts::collect::Collected::<f32> {
                unique: Global::<K>::new(values.take(), values.take()),
                results: Global::new(values.take(), values.take()),
            };
            let capacity = values.take::<u64>() as u32;
            let bins = values.take::<u64>() as u32;
            let words = Shared::new(shared_array![u32; parts::collect::WORDS]);
            parts::collect::collect(op, parts::Pairs { pairs, parts, capacity }, to, bins, words);"
            .into(),
        "sort_count" => format!(
            "{ROWS}
            let keys = Global::<K>::from_slice(values.slice());
            let counts = Global::new(values.take(), values.take());
            {DIGIT}
            let table = Shared::new(shared_array![u32; RADIX as usize]);
            sort::sort_count::<K, ROWS>(keys, counts, digit, table);"
        ),
        "sort_scan" => "sort::sort_scan(
                Global::new(values.take(), values.take()),
                Global::new(values.take(), values.take()),
                Shared::new(shared_array![u32; SUM_WORDS]),
            );"
        .into(),
        "sort_scatter" => format!(
            "{ROWS}
            let pairs = sort::Pairs::<K> {{
                keys: Global::from_slice(values.slice()),
                payloads: Global::from_slice(values.slice()),
                keys_out: Global::new(values.take(), values.take()),
                payloads_out: Global::new(values.take(), values.take()),
            }};
            let counts = Global::from_slice(values.slice());
            let totals = Global::from_slice(values.slice());
            {DIGIT}
            let memory = sort::Memory {{
                counters: Shared::new(shared_array![u32; sort::COUNTERS]),
                starts: Shared::new(shared_array![u32; RADIX as usize]),
                offsets: Shared::new(shared_array![u32; RADIX as usize]),
                words: Shared::new(shared_array![u32; SUM_WORDS]),
                keys: Shared::new(shared_array![K; sort::pairs_of_tile::<K>()]),
                payloads: Shared::new(shared_array![u32; sort::pairs_of_tile::<K>()]),
            }};
            sort::sort_scatter::<K, ROWS>(pairs, counts, totals, digit, memory);"
        ),
        "gather" | "scatter" => format!(
            "let from = Global::<K>::from_slice(values.slice());
            let indices = Global::from_slice(values.slice());
            let to = Global::new(values.take(), values.take());
            moving::{kernel}(from, indices, to, values.take::<u64>() as usize);"
        ),
        "fill" => "let to = Global::<K>::new(values.take(), values.take());
            moving::fill(to, values.take::<u64>() as K);"
            .into(),
        "invert" => "moving::invert(
                Global::from_slice(values.slice()),
                Global::new(values.take(), values.take()),
            );"
        .into(),
        combined => {
            // `group_combine_sum_f32`
            let mut words = combined.rsplit('_');
            let element = words.next().expect("the name has words");
            let op = match words.next() {
                Some("sum") => "Sum",
                Some("min") => "Min",
                _ => panic!("there is no copied entry {name}"),
            };
            format!(
                "{keys}
                let combined = Global::<{element}>::from_slice(values.slice());
                let op = operator::<super::op::{op}>(&mut values);
                let words = Global::new(values.take(), values.take());
                let cells = Global::new(values.take(), values.take());
                {work}
                let value_bytes = size_of::<{element}>();
                let sink = insert::Combine {{
                    op,
                    values: combined,
                    cells,
                    bins: Shared::dynamic(),
                }};
                {call}"
            )
        }
    };
    format!(
        "use super::groups::*;
        use kernels_gpu::shared_array;
        type K = {key};
        {code}"
    )
}
