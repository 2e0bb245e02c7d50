//! Reductions by keys of any value.

use std::collections::BTreeMap;
use std::fs;

use crate::files::{Folder, Sample};
use crate::{answer, warpfold};

#[test]
fn every_key_type() {
    fn check<K: Sample>() {
        let folder = Folder::new();
        let numbers: Vec<i32> = (0..5000).map(|i| i * i % 7).collect();
        let values: Vec<i32> = (0..5000).map(|i| i * 31 % 101 - 50).collect();
        let mut groups = BTreeMap::<i32, Vec<i64>>::new();
        for (key, value) in numbers.iter().zip(&values) {
            groups.entry(*key).or_default().push((*value).into());
        }
        let line = |(key, values): (&i32, &Vec<i64>)| {
            let (sum, count): (i64, _) = (values.iter().sum(), values.len());
            let (min, max) = (values.iter().min().unwrap(), values.iter().max().unwrap());
            format!(
                "{key} {sum} {count} {:?} {min} {max}\n",
                sum as f64 / count as f64
            )
        };
        let lines: String = groups.iter().map(line).collect();
        let keys: Vec<K> = numbers.iter().map(|key| K::of(*key)).collect();
        let (keys, values) = (
            folder.npy("keys.npy", &keys),
            folder.npy("values.npy", &values),
        );
        let ops = "--ops=sum,count,mean,min,max";
        assert_eq!(
            answer(&["group-by", &keys, &values, ops, "--sorted"]),
            lines,
            "{}",
            K::NAME
        );
    }
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
    check::<i8>();
    check::<i16>();
    check::<i32>();
    check::<i64>();
}

#[test]
fn keys_of_any_value_and_floats() {
    let folder = Folder::new();
    let keys = folder.npy("keys.npy", &[i64::MAX, -1, i64::MIN, -1]);
    let values = folder.npy("values.npy", &[0.5f32, 1.5, 2.0, -4.0]);
    let words = ["group-by", &keys, &values, "--ops", "sum,max"];
    assert_eq!(
        answer(&[&words[..], &["--sorted"]].concat()),
        "-9223372036854775808 2.0 2.0\n-1 -2.5 1.5\n9223372036854775807 0.5 0.5\n"
    );
    let counts = answer(&["group-by", &keys, &values, "--ops=count", "--sorted"]);
    assert_eq!(
        counts,
        "-9223372036854775808 1\n-1 2\n9223372036854775807 1\n"
    );
    let mut lines: Vec<String> = answer(&words).lines().map(str::to_string).collect();
    lines.sort();
    assert_eq!(lines.len(), 3);
    let json = answer(&[&words[..], &["--sorted", "--json"]].concat());
    assert!(
        json.contains(r#"{"name":"max","values":[2.0,1.5,0.5]}"#),
        "{json}"
    );
}

#[test]
fn an_output_file_has_records() {
    let folder = Folder::new();
    let keys = folder.npy("keys.npy", &[7u32, 9, 7]);
    let values = folder.npy("values.npy", &[1i16, 2, 4]);
    let out = folder.npy::<u8>("out.npy", &[]);
    let words = [
        "group-by",
        &keys,
        &values,
        "--ops=sum,mean",
        "--sorted",
        "--out",
        &out,
    ];
    assert_eq!(answer(&words), "");
    let bytes = fs::read(&out).unwrap();
    let (header, records) = bytes.split_at(128);
    let text = String::from_utf8_lossy(&header[10..]);
    assert!(
        text.starts_with(
            "{'descr': [('key', '<u8'), ('sum', '<i8'), ('mean', '<f8')], 'fortran_order': False, 'shape': (2,), }"
        ),
        "{text}"
    );
    assert!(text.ends_with(" \n"), "{text:?}");
    let row = |key: u64, sum: i64, mean: f64| {
        [key.to_le_bytes(), sum.to_le_bytes(), mean.to_le_bytes()].concat()
    };
    assert_eq!(records, [row(7, 5, 2.5), row(9, 2, 2.0)].concat());
}

#[test]
fn empty_input_and_wrong_arguments() {
    let folder = Folder::new();
    let empty = folder.npy::<u64>("empty.npy", &[]);
    assert_eq!(answer(&["group-by", &empty, &empty]), "");
    let keys = folder.npy("keys.npy", &[7u32, 9]);
    let output = warpfold(&["group-by", &keys, &empty, "--device=cpu"]);
    assert_eq!(output.code, Some(1));
    assert!(
        output.stderr.contains("has 2 keys, but"),
        "{}",
        output.stderr
    );
    let output = warpfold(&["group-by", &keys, "--device=cpu"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("two files"), "{}", output.stderr);
    let floats = folder.npy("floats.npy", &[0.5f32, 1.5]);
    let output = warpfold(&["group-by", &floats, &keys, "--device=cpu"]);
    assert!(
        output.stderr.contains("keys must be integers"),
        "{}",
        output.stderr
    );
    let memory = [
        "group-by",
        &keys,
        &keys,
        "--device=cpu",
        "--device-memory=50",
    ];
    let output = warpfold(&memory);
    assert!(
        output.stderr.contains("as a whole require"),
        "{}",
        output.stderr
    );
}
