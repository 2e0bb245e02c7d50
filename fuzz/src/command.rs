//! Fuzzes the command line on the CPU with any options and files.

use std::ffi::OsString;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::slice;

use arbitrary::{Arbitrary, Unstructured};
use tempfile::TempDir;
use warpfold::file::DType;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Decodes a command line from the bytes; the remaining bytes are the files.
///
/// - The exit code is 0, 1 or 2. With 0, stdout has the result, which is JSON with `--json`. Otherwise stdout
///   is empty and stderr has the error.
/// - Exact results do not depend on the length of chunks.
/// - The result is the same for an array in a file, in a pipe and in an archive.
pub fn command(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    // Too few bytes for a command line are not tested.
    let _ = any(&mut source);
}

/// Commands without options of their own; the first [`EXACT`] do not round.
const PLAIN: [&str; 8] = [
    "min", "max", "min-max", "argmin", "argmax", "sum", "product", "mean",
];
const EXACT: usize = 5;

/// The value of an option: a typical one, or any text.
#[derive(Arbitrary, Debug)]
enum Text<'a> {
    Number(i16),
    Special(u8),
    Any(&'a str),
}

impl Text<'_> {
    fn of(&self, special: &[&str]) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Special(index) => special[usize::from(*index) % special.len()].into(),
            Self::Any(text) => (*text).into(),
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Subcommand<'a> {
    Plain(u8),
    Var(Option<Text<'a>>),
    Norm(Option<Text<'a>>),
    Equal(Text<'a>),
    Less(Text<'a>),
    Greater(Text<'a>),
    Nan,
    Nonzero,
    ByKey {
        cells: Option<Text<'a>>,
        op: Option<Text<'a>>,
        output: bool,
    },
    Other(&'a str),
    CountByKey {
        cells: Option<Text<'a>>,
        ignore_others: bool,
        output: bool,
    },
}

impl Subcommand<'_> {
    /// The command's arguments. Values follow a `=`, so that no value is parsed as an option.
    fn words(&self, folder: &Path) -> Vec<String> {
        const FLOATS: [&str; 6] = ["nan", "-inf", "-0.0", "1e-320", "1e39", "70000"];
        let option = |name: &str, text: &Option<Text>, special: &[&str]| {
            text.as_ref()
                .map(|text| format!("{name}={}", text.of(special)))
        };
        let path = |name: &str| folder.join(name).display().to_string();
        let words = match self {
            Self::Plain(index) => vec![Some(PLAIN[usize::from(*index) % PLAIN.len()].into())],
            Self::Var(ddof) => vec![Some("var".into()), option("--ddof", ddof, &["1"])],
            Self::Norm(order) => {
                let order = option("--order", order, &["1", "2", "inf"]);
                vec![Some("norm".into()), order]
            }
            Self::Equal(text) | Self::Less(text) | Self::Greater(text) => {
                let name = match self {
                    Self::Equal(_) => "--equal",
                    Self::Less(_) => "--less",
                    _ => "--greater",
                };
                let predicate = format!("{name}={}", text.of(&FLOATS));
                vec![Some("count".into()), Some(predicate)]
            }
            Self::Nan => vec![Some("count".into()), Some("--nan".into())],
            Self::Nonzero => vec![Some("count".into()), Some("--nonzero".into())],
            Self::ByKey { cells, op, output } => vec![
                Some("reduce-by-key".into()),
                Some(format!("--keys={}", path("keys.npy"))),
                option("--cells", cells, &["18446744073709551615"]),
                option("--op", op, &["sum", "min", "max"]),
                output.then(|| format!("--output={}", path("out.npy"))),
            ],
            // Without `-` at the beginning, so that it is not parsed as an option.
            Self::Other(name) => vec![Some(name.trim_start_matches('-').into())],
            Self::CountByKey {
                cells,
                ignore_others,
                output,
            } => vec![
                Some("count-by-key".into()),
                option("--cells", cells, &["18446744073709551615"]),
                ignore_others.then(|| "--ignore-others".into()),
                output.then(|| format!("--output={}", path("out.npy"))),
            ],
        };
        words.into_iter().flatten().collect()
    }

    /// Whether the result is not rounded.
    fn is_exact(&self) -> bool {
        match self {
            Self::Plain(index) => usize::from(*index) % PLAIN.len() < EXACT,
            Self::Equal(_) | Self::Less(_) | Self::Greater(_) | Self::Nan | Self::Nonzero => true,
            _ => false,
        }
    }
}

/// The limit of memory: often enough for some elements.
#[derive(Arbitrary, Debug)]
enum Memory {
    Some(u16),
    Any(u16, u8),
}

impl Memory {
    fn word(&self) -> String {
        match self {
            Self::Some(bytes) => format!("{}", (128 << 10) + u32::from(*bytes)),
            Self::Any(n, unit) => {
                format!("{n}{}", ["", "B", "kB", "KiB", "?"][usize::from(*unit) % 5])
            }
        }
    }
}

fn any(source: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    thread_local! {
        static FOLDER: TempDir =
            TempDir::new_in(super::in_memory()).expect("a temporary folder");
    }
    FOLDER.with(|folder| in_folder(folder.path(), source))
}

fn in_folder(folder: &Path, source: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let subcommand: Subcommand = source.arbitrary()?;
    let (memory, json): (Memory, bool) = source.arbitrary()?;
    let dtype: Option<Text> = source.arbitrary()?;
    let (values_of, keys_of): (Option<u8>, Option<u8>) = source.arbitrary()?;
    // The lowest bit selects a raw file, the others the second run.
    let bits: u8 = source.arbitrary()?;
    let (raw, second_run) = (
        bits & 1 == 1,
        SecondRun::ALL[usize::from(bits / 2) % SecondRun::ALL.len()],
    );
    let keys = usize::from(source.arbitrary::<u16>()?) % (source.len() + 1);
    let keys = npy(keys_of, source.bytes(keys)?);
    let rest = source.bytes(source.len())?;
    let (name, content) = match raw {
        true => ("array.raw", rest.to_vec()),
        false => ("array.npy", npy(values_of, rest)),
    };
    let file = folder.join(name);
    fs::write(&file, &content).expect("the file is writable");
    fs::write(folder.join("keys.npy"), keys).expect("the file is writable");

    let mut words = vec!["warpfold".to_owned()];
    words.extend(subcommand.words(folder));
    words.push("--device=cpu".into());
    words.extend(json.then(|| "--json".into()));
    words.extend(dtype.map(|dtype| format!("--dtype={}", dtype.of(&DType::ALL.map(DType::name)))));
    let output = |files: &[String], stdin: &[u8], memory: &str| {
        self::output(&[&words[..], files].concat(), stdin, memory, json)
    };
    let file = file.display().to_string();
    let from_file = output(slice::from_ref(&file), &[], &memory.word());
    if subcommand.is_exact() && !json && from_file.is_some() {
        let in_one_chunk = output(slice::from_ref(&file), &[], "1MiB");
        assert_eq!(in_one_chunk, from_file, "{words:?}");
    }

    let archive = folder.join("array.npz").display().to_string();
    let is_npy = content.starts_with(b"\x93NUMPY");
    let (second, is_same) = match second_run {
        SecondRun::None => return Ok(()),
        SecondRun::Pipe => {
            let from_pipe = output(&["-".into()], &content, &memory.word());
            (from_pipe, raw != is_npy)
        }
        SecondRun::Stored | SecondRun::Deflated => {
            fs::write(&archive, npz(&content, second_run)).expect("the file is writable");
            (output(&[archive], &[], &memory.word()), !raw)
        }
        SecondRun::AnyArchive => {
            fs::write(&archive, &content).expect("the file is writable");
            (output(&[archive], &[], &memory.word()), false)
        }
        SecondRun::Twice => (output(&[file.clone(), file], &[], &memory.word()), false),
        SecondRun::Each => {
            let each = ["--each".into(), file.clone(), file];
            (output(&each, &[], &memory.word()), false)
        }
    };
    if is_same && !json {
        assert_eq!(second, from_file, "{second_run:?} {words:?}");
    }
    Ok(())
}

/// The input of a second run, after one from a file.
#[derive(Clone, Copy, Debug)]
enum SecondRun {
    None,
    Pipe,
    Stored,
    Deflated,
    /// The bytes as an archive, valid or not.
    AnyArchive,
    /// The file twice, as one array.
    Twice,
    Each,
}

impl SecondRun {
    const ALL: [Self; 7] = [
        Self::None,
        Self::Pipe,
        Self::Stored,
        Self::Deflated,
        Self::AnyArchive,
        Self::Twice,
        Self::Each,
    ];
}

/// An archive of one array.
fn npz(content: &[u8], second_run: SecondRun) -> Vec<u8> {
    let method = match second_run {
        SecondRun::Deflated => CompressionMethod::Deflated,
        _ => CompressionMethod::Stored,
    };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut archive = ZipWriter::new(Cursor::new(vec![]));
    let written = archive.start_file("array.npy", options);
    written.expect("memory is writable");
    archive.write_all(content).expect("memory is writable");
    archive.finish().expect("memory is writable").into_inner()
}

/// A `.npy` file with the bytes as elements; without `dtype`, the bytes themselves.
fn npy(dtype: Option<u8>, bytes: &[u8]) -> Vec<u8> {
    const DESCRS: [(&str, usize); 16] = [
        ("|i1", 1),
        ("<i2", 2),
        ("<i4", 4),
        ("<i8", 8),
        ("|u1", 1),
        ("<u2", 2),
        ("<u4", 4),
        ("<u8", 8),
        ("<f2", 2),
        ("<f4", 4),
        ("<f8", 8),
        ("|V2", 2),
        (">i4", 4),
        (">u8", 8),
        (">f2", 2),
        (">f8", 8),
    ];
    let Some(dtype) = dtype else {
        return bytes.to_vec();
    };
    let (descr, size) = DESCRS[usize::from(dtype) % DESCRS.len()];
    let n = bytes.len() / size;
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n},)}}\n");
    let len = u16::try_from(dict.len()).expect("the header is short");
    [
        b"\x93NUMPY\x01\0",
        &len.to_le_bytes()[..],
        dict.as_bytes(),
        bytes,
    ]
    .concat()
}

/// Runs the command; returns stdout, or `None` if it fails.
fn output(words: &[String], mut stdin: &[u8], memory: &str, json: bool) -> Option<Vec<u8>> {
    let memory = format!("--device-memory={memory}");
    let words = words.iter().chain([&memory]).map(OsString::from);
    let (mut stdout, mut stderr) = (vec![], vec![]);
    let code = warpfold_cli::run(words, &mut stdin, &mut stdout, &mut stderr);
    match code {
        0 if json => {
            let values = serde_json::Deserializer::from_slice(&stdout).into_iter();
            let values: Result<Vec<serde_json::Value>, _> = values.collect();
            values.expect("stdout is JSON");
            Some(stdout)
        }
        0 => Some(stdout),
        1 | 2 => {
            assert!(stdout.is_empty() && !stderr.is_empty());
            None
        }
        _ => panic!("exit code {code}"),
    }
}
