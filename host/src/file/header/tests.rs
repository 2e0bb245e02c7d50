use super::*;
use crate::{Indexed, bf16, f16};

/// The bytes of a file whose dictionary is padded as NumPy pads it: the elements start at a multiple of 64.
fn file(version: u8, dict: &str) -> Vec<u8> {
    let length_bytes = if version == 1 { 2 } else { 4 };
    let before = MAGIC.len() + 2 + length_bytes;
    let len = (before + dict.len() + 1).next_multiple_of(64) - before;
    let mut bytes = [MAGIC, &[version, 0]].concat();
    bytes.extend(&(len as u32).to_le_bytes()[..length_bytes]);
    bytes.extend(dict.as_bytes());
    bytes.resize(before + len - 1, b' ');
    bytes.push(b'\n');
    bytes
}

fn plain(descr: &str, shape: &str) -> Vec<u8> {
    file(
        1,
        &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"),
    )
}

fn read(bytes: &[u8]) -> Result<NpyHeader, Error> {
    NpyHeader::read(bytes, "a.npy")
}

/// The text of an [`Error::Npy`].
fn rejected(bytes: &[u8]) -> String {
    match read(bytes) {
        Err(Error::Npy { path, what }) => {
            assert_eq!(path, Path::new("a.npy"));
            what
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_version() {
    let dict = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
    for version in [1, 2, 3] {
        let bytes = file(version, dict);
        let header = read(&bytes).unwrap();
        assert_eq!((header.len(), header.is_empty()), (6, false));
        assert_eq!(header.shape(), [2, 3]);
        assert_eq!(header.dtype(), Ok(DType::F32));
        assert!(header.fortran_order());
        assert_eq!(header.offset(), bytes.len() as u64);
        assert_eq!(header.offset() % 64, 0);
    }
    let mut bytes = file(1, dict);
    for (version, text) in [([0, 0], "0.0"), ([1, 1], "1.1"), ([4, 0], "4.0")] {
        bytes[6..8].copy_from_slice(&version);
        assert_eq!(
            rejected(&bytes),
            format!("version {text} of the format; only 1.0, 2.0 and 3.0 can be read")
        );
    }
}

#[test]
fn bytes_after_the_header_are_not_read() {
    let mut bytes = plain("<u2", "(2,)");
    let end = bytes.len();
    bytes.extend([1, 2, 3, 4]);
    let mut rest = &bytes[..];
    let header = NpyHeader::read(&mut rest, "a.npy").unwrap();
    assert_eq!(header.offset(), end as u64);
    assert_eq!(rest, [1, 2, 3, 4]);
}

#[test]
fn every_type() {
    let dtype = |descr: &str| read(&plain(descr, "(1,)")).unwrap().dtype();
    for (descr, expected) in [
        ("|i1", DType::I8),
        ("<i2", DType::I16),
        ("<i4", DType::I32),
        ("<i8", DType::I64),
        ("|u1", DType::U8),
        ("|b1", DType::U8),
        ("<u2", DType::U16),
        ("<u4", DType::U32),
        ("<u8", DType::U64),
        ("<f2", DType::F16),
        ("<f4", DType::F32),
        ("<f8", DType::F64),
    ] {
        assert_eq!(dtype(descr), Ok(expected));
        let big_endian = descr.replace('<', ">");
        let header = read(&plain(&big_endian, "(1,)")).unwrap();
        assert_eq!(header.dtype(), Ok(expected));
        assert_eq!(header.big_endian(), descr.starts_with('<'));
    }
    assert_eq!(dtype(">u1"), Ok(DType::U8));
    assert_eq!(dtype(">i1"), Ok(DType::I8));
    let why = |descr: &str| match dtype(descr) {
        Err(Error::UnreadableDType {
            descr: named, why, ..
        }) if named == descr => why,
        other => panic!("{other:?}"),
    };
    for descr in [
        "|O", "|S3", "<U3", "<c8", "<c16", "<f16", "<M8[s]", "|V4", "<V1", "=f4", "f4", "|f4", "",
        "é", ">", "<", ">c8", "><f4", "|i2", ">é",
    ] {
        let text = why(descr);
        assert!(
            text.starts_with("not a type that can be reduced"),
            "{descr}: {text}"
        );
    }
    for descr in ["<V2", ">V2", "|V2"] {
        assert!(why(descr).contains("read them as bf16"), "{descr}");
    }
    let error = dtype(">c8").unwrap_err().to_string();
    assert!(
        error.starts_with(r#"a.npy holds ">c8": not a type that"#),
        "{error}"
    );
}

#[test]
fn the_requested_type_must_match_the_file() {
    let header = |descr| read(&plain(descr, "(1,)")).unwrap();
    assert_eq!(header("<f4").check::<f32>(), Ok(()));
    assert_eq!(header("|b1").check::<u8>(), Ok(()));
    assert_eq!(header("<V2").check::<bf16>(), Ok(()));
    assert_eq!(header("|V2").check::<bf16>(), Ok(()));
    assert_eq!(header(">V2").check::<bf16>(), Ok(()));
    assert_eq!(header(">f4").check::<f32>(), Ok(()));
    assert_eq!(
        header("<f8").check::<f32>().unwrap_err().to_string(),
        "a.npy holds f64, not f32; read it as f64"
    );
    let wanted = |checked: Result<(), Error>| match checked {
        Err(Error::OtherDType { wanted, .. }) => wanted,
        other => panic!("{other:?}"),
    };
    assert_eq!(wanted(header("<f2").check::<bf16>()), "bf16");
    assert_eq!(wanted(header("|b1").check::<i8>()), "i8");
    assert_eq!(
        wanted(header("<f4").check::<Indexed<f32>>()),
        "Indexed<f32>"
    );
    let unreadable = header("<V2").check::<f16>();
    assert!(matches!(unreadable, Err(Error::UnreadableDType { .. })));
}

#[test]
fn any_shape() {
    let len = |shape| read(&plain("<f4", shape)).map(|header| header.len());
    assert_eq!(len("()"), Ok(1));
    assert_eq!(len("(0,)"), Ok(0));
    assert_eq!(len("(18446744073709551615,)"), Ok(u64::MAX));
    // The product overflows unless a dimension is 0.
    assert_eq!(len("(4294967296, 4294967296, 0)"), Ok(0));
    let what = rejected(&plain("<f4", "(4294967296, 4294967296)"));
    assert!(what.ends_with("has 2^64 elements or more"), "{what}");
}

#[test]
fn truncated_headers() {
    for version in [1, 2] {
        let bytes = file(
            version,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        );
        for end in 0..bytes.len() {
            assert_eq!(rejected(&bytes[..end]), "the file ends inside the header");
        }
    }
}

#[test]
fn files_that_are_not_npy() {
    let what = rejected(b"PK\x03\x04 is what a .npz begins with");
    assert_eq!(what, r#"it does not begin with "\x93NUMPY""#);
    let what = rejected(&file(1, "{'descr': [('a', '<f4')], "));
    assert!(what.contains("records"), "{what}");
}

#[test]
fn a_header_with_a_huge_length() {
    let with_length = |len: u32| [MAGIC, &[2, 0], &len.to_le_bytes()].concat();
    assert_eq!(
        rejected(&with_length(u32::MAX)),
        "the header has 4294967295 bytes; the limit is 10000"
    );
    assert_eq!(
        rejected(&with_length(10_000)),
        "the file ends inside the header"
    );
}

#[test]
fn a_reader_that_fails() {
    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }

    let error = NpyHeader::read(Broken, "a.npy").unwrap_err();
    assert_eq!(error.to_string(), "a.npy: the disk is gone");
}
