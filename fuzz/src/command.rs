//! The command line on the CPU: any options, any files.

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

/// The bytes say what the command line asks for; those that are left are the files.
///
/// - The exit code is 0, 1 or 2. At 0 there is an answer, which is JSON where that is asked for; at the
///   others none, and stderr says why.
/// - The length of the chunks changes nothing where nothing is rounded.
/// - An array has the same answer in a file, in a pipe and in an archive.
pub fn command(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    // Too few bytes to say what is asked for are nothing to ask.
    let _ = any(&mut source);
}

/// The names of commands that take no options of their own; those that round nothing come first.
const PLAIN: [&str; 8] = [
    "min", "max", "min-max", "argmin", "argmax", "sum", "product", "mean",
];
const EXACT: usize = 5;

/// What an option is given: something that it takes, or any text.
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
enum Asked<'a> {
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
}

impl Asked<'_> {
    /// Options have their values behind a `=`, so that no value is an option.
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
                let question = format!("{name}={}", text.of(&FLOATS));
                vec![Some("count".into()), Some(question)]
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
            // No option: it would be in the way of ours.
            Self::Other(name) => vec![Some(name.trim_start_matches('-').into())],
        };
        words.into_iter().flatten().collect()
    }

    /// Whether nothing is rounded.
    fn is_exact(&self) -> bool {
        match self {
            Self::Plain(index) => usize::from(*index) % PLAIN.len() < EXACT,
            Self::Equal(_) | Self::Less(_) | Self::Greater(_) | Self::Nan | Self::Nonzero => true,
            _ => false,
        }
    }
}

/// How much memory: mostly enough for some elements.
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
            TempDir::new_in(super::in_memory()).expect("temporary folders can be made");
    }
    FOLDER.with(|folder| in_folder(folder.path(), source))
}

fn in_folder(folder: &Path, source: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let asked: Asked = source.arbitrary()?;
    let (memory, json): (Memory, bool) = source.arbitrary()?;
    let dtype: Option<Text> = source.arbitrary()?;
    let (values_of, keys_of): (Option<u8>, Option<u8>) = source.arbitrary()?;
    // The lowest bit says whether the elements are raw, the others where they are.
    let place: u8 = source.arbitrary()?;
    let (raw, place) = (
        place & 1 == 1,
        Place::ALL[usize::from(place / 2) % Place::ALL.len()],
    );
    let keys = usize::from(source.arbitrary::<u16>()?) % (source.len() + 1);
    let keys = npy(keys_of, source.bytes(keys)?);
    let rest = source.bytes(source.len())?;
    let (name, content) = match raw {
        true => ("array.raw", rest.to_vec()),
        false => ("array.npy", npy(values_of, rest)),
    };
    let file = folder.join(name);
    fs::write(&file, &content).expect("it can be written to");
    fs::write(folder.join("keys.npy"), keys).expect("it can be written to");

    let mut words = vec!["warpfold".to_owned()];
    words.extend(asked.words(folder));
    words.push("--device=cpu".into());
    words.extend(json.then(|| "--json".into()));
    words.extend(dtype.map(|dtype| format!("--dtype={}", dtype.of(&DType::ALL.map(DType::name)))));
    let answer = |files: &[String], stdin: &[u8], memory: &str| {
        self::answer(&[&words[..], files].concat(), stdin, memory, json)
    };
    let file = file.display().to_string();
    let in_a_file = answer(slice::from_ref(&file), &[], &memory.word());
    if asked.is_exact() && !json && in_a_file.is_some() {
        let in_one_chunk = answer(slice::from_ref(&file), &[], "1MiB");
        assert_eq!(in_one_chunk, in_a_file, "{words:?}");
    }

    let archive = folder.join("array.npz").display().to_string();
    let is_npy = content.starts_with(b"\x93NUMPY");
    let (elsewhere, is_same) = match place {
        Place::File => return Ok(()),
        Place::Pipe => {
            let of_pipe = answer(&["-".into()], &content, &memory.word());
            (of_pipe, raw != is_npy)
        }
        Place::Stored | Place::Deflated => {
            fs::write(&archive, npz(&content, place)).expect("it can be written to");
            (answer(&[archive], &[], &memory.word()), !raw)
        }
        Place::AnyArchive => {
            fs::write(&archive, &content).expect("it can be written to");
            (answer(&[archive], &[], &memory.word()), false)
        }
        Place::Twice => (answer(&[file.clone(), file], &[], &memory.word()), false),
        Place::Each => {
            let each = ["--each".into(), file.clone(), file];
            (answer(&each, &[], &memory.word()), false)
        }
    };
    if is_same && !json {
        assert_eq!(elsewhere, in_a_file, "{place:?} {words:?}");
    }
    Ok(())
}

/// Where the array is besides in a file.
#[derive(Clone, Copy, Debug)]
enum Place {
    File,
    Pipe,
    Stored,
    Deflated,
    /// The bytes as an archive.
    AnyArchive,
    /// Once more after itself.
    Twice,
    Each,
}

impl Place {
    const ALL: [Self; 7] = [
        Self::File,
        Self::Pipe,
        Self::Stored,
        Self::Deflated,
        Self::AnyArchive,
        Self::Twice,
        Self::Each,
    ];
}

/// An archive of one array.
fn npz(content: &[u8], place: Place) -> Vec<u8> {
    let method = match place {
        Place::Deflated => CompressionMethod::Deflated,
        _ => CompressionMethod::Stored,
    };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut archive = ZipWriter::new(Cursor::new(vec![]));
    let written = archive.start_file("array.npy", options);
    written.expect("it is in memory");
    archive.write_all(content).expect("it is in memory");
    archive.finish().expect("it is in memory").into_inner()
}

/// A `.npy` file of so many elements as the bytes have, or the bytes.
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
    let len = u16::try_from(dict.len()).expect("it is short");
    [
        b"\x93NUMPY\x01\0",
        &len.to_le_bytes()[..],
        dict.as_bytes(),
        bytes,
    ]
    .concat()
}

/// What is printed; `None` where it fails.
fn answer(words: &[String], mut stdin: &[u8], memory: &str, json: bool) -> Option<Vec<u8>> {
    let memory = format!("--device-memory={memory}");
    let words = words.iter().chain([&memory]).map(OsString::from);
    let (mut stdout, mut stderr) = (vec![], vec![]);
    let code = warpfold_cli::run(words, &mut stdin, &mut stdout, &mut stderr);
    match code {
        0 if json => {
            let values = serde_json::Deserializer::from_slice(&stdout).into_iter();
            let values: Result<Vec<serde_json::Value>, _> = values.collect();
            values.expect("it is JSON");
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
