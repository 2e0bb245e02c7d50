//! Arrays in files that NumPy has written (`data/npy/make.py`), that `npyz` writes, and that are malformed.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use npyz::WriterBuilder;
use tempfile::TempDir;
use warpfold::file::{DType, Elements, Mapped, NpyHeader, Stream, read_npy, read_raw};
use warpfold::{Device, Element, Error, Indexed, bf16, f16};

fn numpy_file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/npy");
    folder.join(name).with_extension("npy")
}

/// The elements of a `.npy` file by all four readers, whose results must agree.
fn npy<T: Element>(path: &Path) -> Result<Vec<T>, Error> {
    let read = read_npy::<T>(path);
    let pieces = Elements::open_npy(path).and_then(in_pieces);
    if path.is_file() {
        let bytes = fs::read(path).unwrap();
        assert_eq!(read, Stream::npy(trickle(&bytes), path).and_then(streamed));
    }
    // SAFETY: no program writes to the file.
    let mapped = unsafe { Mapped::<T>::npy(path) }.map(|mapped| mapped.to_vec());
    assert_eq!(read, pieces);
    assert_eq!(read, mapped);
    read
}

/// The elements of a raw file by all four readers, whose results must agree.
fn raw<T: Element>(path: &Path) -> Result<Vec<T>, Error> {
    let read = read_raw::<T>(path);
    if path.is_file() {
        let bytes = fs::read(path).unwrap();
        assert_eq!(read, streamed(Stream::raw(trickle(&bytes), path)));
    }
    let pieces = Elements::open_raw(path).and_then(in_pieces);
    // SAFETY: no program writes to the file.
    let mapped = unsafe { Mapped::<T>::raw(path) }.map(|mapped| mapped.to_vec());
    assert_eq!(read, pieces);
    assert_eq!(read, mapped);
    read
}

fn in_pieces<T: Element>(mut elements: Elements<T>) -> Result<Vec<T>, Error> {
    let mut piece = vec![zero::<T>(); 2];
    let mut all = vec![];
    while let Some(n) = elements.read(&mut piece)? {
        assert!(n > 0);
        all.extend_from_slice(&piece[..n]);
    }
    assert_eq!(elements.len(), all.len());
    Ok(all)
}

/// A reader that returns one byte per call, and is interrupted before each, as a pipe may be.
struct Trickle<'a> {
    rest: &'a [u8],
    interrupted: bool,
}

fn trickle(rest: &[u8]) -> Trickle<'_> {
    Trickle {
        rest,
        interrupted: false,
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = bytes.len().min(1);
        self.rest.read(&mut bytes[..n])
    }
}

fn streamed<T: Element>(mut stream: Stream<T, Trickle<'_>>) -> Result<Vec<T>, Error> {
    let mut piece = vec![zero::<T>(); 2];
    let mut all = vec![];
    while let Some(n) = stream.read(&mut piece)? {
        assert!(n > 0);
        all.extend_from_slice(&piece[..n]);
    }
    assert_eq!(stream.read(&mut piece), Ok(None));
    Ok(all)
}

fn zero<T: Element>() -> T {
    Device::cpu().alloc(1).unwrap().download().unwrap()[0]
}

#[test]
fn every_type_of_numpy() {
    fn holds<T: Element>(name: &str, elements: [T; 3]) {
        assert_eq!(npy::<T>(&numpy_file(name)), Ok(elements.to_vec()));
    }
    holds("i1", [3i8, 1, 2]);
    holds("i2", [3i16, 1, 2]);
    holds("i4", [3i32, 1, 2]);
    holds("i8", [3i64, 1, 2]);
    holds("u1", [3u8, 1, 2]);
    holds("u2", [3u16, 1, 2]);
    holds("u4", [3u32, 1, 2]);
    holds("u8", [3u64, 1, 2]);
    holds("f2", [3.0, 1.0, 2.0].map(f16::from_f32));
    holds("bf16", [3.0, 1.0, 2.0].map(bf16::from_f32));
    holds("f4", [3.0f32, 1.0, 2.0]);
    holds("f8", [3.0f64, 1.0, 2.0]);
    holds("bool", [1u8, 0, 1]);
    holds("version_2", [3u16, 1, 2]);
    holds("version_3", [3u16, 1, 2]);
}

#[test]
fn every_shape_of_numpy() {
    assert_eq!(npy(&numpy_file("single")), Ok(vec![7i32]));
    assert_eq!(npy::<f64>(&numpy_file("empty")), Ok(vec![]));
    assert_eq!(npy(&numpy_file("c_order")), Ok(vec![0i16, 1, 2, 3, 4, 5]));
    // In the order of the file.
    assert_eq!(
        npy(&numpy_file("fortran_order")),
        Ok(vec![0i16, 3, 1, 4, 2, 5])
    );

    let header = NpyHeader::of_file(numpy_file("fortran_order")).unwrap();
    assert_eq!((header.shape(), header.len()), (&[2u64, 3][..], 6));
    assert_eq!(header.dtype(), Ok(DType::I16));
    assert!(header.fortran_order());
    assert_eq!(header.offset(), 128);
    let header = NpyHeader::of_file(numpy_file("empty")).unwrap();
    assert!(header.is_empty() && !header.fortran_order());
}

#[test]
fn unsupported_types_of_numpy() {
    let error = |name| npy::<f32>(&numpy_file(name)).unwrap_err().to_string();
    let fails_with = |name, what: &str| {
        let text = error(name);
        assert!(text.contains(what) && text.contains(name), "{text}");
    };
    fails_with("complex", r#"holds "<c8": not a type that"#);
    fails_with("strings", r#"holds "<U5": not a type that"#);
    fails_with("objects", r#"holds "|O": not a type that"#);
    fails_with("records", "records cannot be reduced");
    fails_with(
        "bf16",
        r#"holds "<V2": two bytes without a type, as ml_dtypes"#,
    );
    fails_with("f8", "holds f64, not f32; read it as f64");
}

#[test]
fn big_endian_arrays() {
    assert_eq!(npy(&numpy_file("big_endian")), Ok(vec![3.0f32, 1.0, 2.0]));
    let header = NpyHeader::of_file(numpy_file("big_endian")).unwrap();
    assert!(header.big_endian());
    assert_eq!(header.descr(), ">f4");

    /// A file with big-endian elements.
    fn check<T: Element>(name: &str, elements: [T; 3]) {
        let mut bytes = fs::read(numpy_file(name)).unwrap();
        let descr = bytes.iter().position(|byte| *byte == b'<').unwrap();
        bytes[descr] = b'>';
        for element in bytes[128..].chunks_mut(size_of::<T>()) {
            element.reverse();
        }
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, bytes).unwrap();
        assert_eq!(npy::<T>(&path), Ok(elements.to_vec()), "{name}");
    }
    check("i2", [3i16, 1, 2]);
    check("i4", [3i32, 1, 2]);
    check("i8", [3i64, 1, 2]);
    check("u2", [3u16, 1, 2]);
    check("u4", [3u32, 1, 2]);
    check("u8", [3u64, 1, 2]);
    check("f2", [3.0, 1.0, 2.0].map(f16::from_f32));
    check("bf16", [3.0, 1.0, 2.0].map(bf16::from_f32));
    check("f4", [3.0f32, 1.0, 2.0]);
    check("f8", [3.0f64, 1.0, 2.0]);
}

/// The piece is so large that several threads swap parts of it.
#[test]
fn large_big_endian_arrays() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npy");
    let all: Vec<u64> = (0..1_200_003).map(|i| i << 20 | 5).collect();
    let dict = "{'descr': '>u8', 'fortran_order': False, 'shape': (1200003,)}";
    let dict = format!("{dict:<117}\n");
    let elements: Vec<u8> = all.iter().flat_map(|x| x.to_be_bytes()).collect();
    let bytes = [b"\x93NUMPY\x01\0\x76\0", dict.as_bytes(), &elements].concat();
    fs::write(&path, &bytes).unwrap();
    assert_eq!(read_npy(&path), Ok(all.clone()));
    // SAFETY: no program writes to the file.
    let mapped = unsafe { Mapped::<u64>::npy(&path) }.unwrap();
    assert_eq!(*mapped, all);
    assert_eq!(fs::read(&path).unwrap(), bytes, "only memory is swapped");
}

#[test]
fn streams() {
    let bytes = fs::read(numpy_file("f4")).unwrap();
    let more = [&bytes[..], b"more"].concat();
    let mut stream = Stream::<f32, _>::npy(&more[..], "pipe").unwrap();
    assert_eq!(stream.read(&mut [0.0; 5]), Ok(Some(3)));
    assert_eq!(stream.read(&mut [0.0; 5]), Ok(None));
    // The bytes after the array remain in the reader.
    assert_eq!(stream.into_inner(), b"more");

    let mut stream = Stream::<f32, _>::npy(&bytes[..139], "pipe").unwrap();
    assert_eq!(stream.read(&mut [0.0; 2]), Ok(Some(2)));
    let error = stream.read(&mut [0.0; 2]).unwrap_err().to_string();
    assert_eq!(
        error,
        "pipe: too short: 139 bytes, but the header and the elements of its shape need 140"
    );

    let error = Stream::<f64, _>::npy(&bytes[..], "pipe").unwrap_err();
    assert!(matches!(error, Error::OtherDType { .. }));
    let mut broken = Stream::<u16, _>::raw(Broken, "pipe");
    let error = broken.read(&mut [0; 2]).unwrap_err().to_string();
    assert_eq!(error, "pipe: the other side is gone");
}

/// A reader that fails.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the other side is gone"))
    }
}

#[test]
fn files_written_by_npyz() {
    fn round_trip<T: Element + npyz::AutoSerialize>(elements: &[T]) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.npy");
        let options = npyz::WriteOptions::new().default_dtype();
        let mut writer = options
            .shape(&[elements.len() as u64])
            .writer(fs::File::create(&path).unwrap())
            .begin_nd()
            .unwrap();
        writer.extend(elements).unwrap();
        writer.finish().unwrap();
        assert_eq!(npy::<T>(&path), Ok(elements.to_vec()));
    }
    round_trip(&[i8::MIN, 0, i8::MAX]);
    round_trip(&[u64::MAX; 1001]);
    round_trip(&[1.5f32, -0.0, f32::INFINITY]);
    round_trip::<f64>(&[]);
}

#[test]
fn raw_elements() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("raw");
    fs::write(&path, [1, 0, 2, 0, 3, 1]).unwrap();
    assert_eq!(raw(&path), Ok(vec![1u16, 2, 259]));
    assert_eq!(raw(&path), Ok(vec![1u8, 0, 2, 0, 3, 1]));
    let error = raw::<f64>(&path).unwrap_err();
    assert_eq!(
        error,
        Error::NotWholeElements {
            path: path.clone(),
            bytes: 6,
            element: "f64",
            size: 8
        }
    );
    let text = error.to_string();
    assert!(
        text.ends_with("raw: its length, 6 bytes, is not a multiple of 8, the size of f64"),
        "{text}"
    );
    fs::write(&path, []).unwrap();
    assert_eq!(raw::<i64>(&path), Ok(vec![]));

    fs::write(&path, [0; 3 * size_of::<Indexed<u32>>()]).unwrap();
    assert_eq!(raw::<Indexed<u32>>(&path).unwrap().len(), 3);
}

/// The pieces are so large that all cores read them; they do not start at a disk block.
#[test]
fn large_pieces() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("raw");
    let all: Vec<u32> = (0..4_000_000).collect();
    fs::write(&path, bytemuck::cast_slice::<u32, u8>(&all)).unwrap();
    assert_eq!(read_raw(&path), Ok(all.clone()));
    let mut elements = Elements::<u32>::open_raw(&path).unwrap();
    let mut piece = vec![0; 1_500_001];
    for (start, n) in [(0, 1_500_001), (1_500_001, 1_500_001), (3_000_002, 999_998)] {
        assert_eq!(elements.read(&mut piece), Ok(Some(n)));
        assert_eq!(piece[..n], all[start..start + n]);
    }
    assert_eq!(elements.read(&mut piece), Ok(None));
}

#[test]
fn mapped_elements_are_uploaded() {
    // SAFETY: no program writes to the file.
    let mapped = unsafe { Mapped::<f32>::npy(numpy_file("f4")) }.unwrap();
    let device = Device::cpu();
    let x = device.upload(&mapped).unwrap();
    assert_eq!(device.sum(&x), Ok(6.0));
    assert_eq!(format!("{mapped:?}"), "Mapped<f32>(3)");
}

#[test]
fn a_file_that_is_too_short() {
    let whole = fs::read(numpy_file("f4")).unwrap();
    assert_eq!(whole.len(), 140);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("short.npy");
    for len in 128..140 {
        fs::write(&path, &whole[..len]).unwrap();
        let (path, needs, has) = (path.clone(), 140, len as u64);
        let error = Err(Error::FileTooShort { path, needs, has });
        assert_eq!(npy::<f32>(&folder.path().join("short.npy")), error);
    }
    // As in NumPy, bytes after the array are ignored.
    fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
    assert_eq!(npy(&path), Ok(vec![3.0f32, 1.0, 2.0]));
}

#[test]
fn a_header_with_a_huge_shape() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("huge.npy");
    for (shape, needs) in [
        ("(4611686018427387904,)", u64::MAX),
        ("(4611686018427387903,)", u64::MAX),
        ("(1000000000000,)", 4_000_000_000_128),
    ] {
        let dict = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}");
        let dict = format!("{dict:<117}\n");
        let bytes = [b"\x93NUMPY\x01\0\x76\0", dict.as_bytes(), &[0; 4]].concat();
        fs::write(&path, &bytes).unwrap();
        let (path, has) = (path.clone(), 132);
        let error = Err(Error::FileTooShort { path, needs, has });
        assert_eq!(
            npy::<f32>(&folder.path().join("huge.npy")),
            error,
            "{shape}"
        );
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("raw");
    fs::write(&path, [1u8; 8]).unwrap();
    let mut elements = Elements::<u8>::open_raw(&path).unwrap();
    assert_eq!(elements.read(&mut [0; 3]), Ok(Some(3)));
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(4).unwrap();
    let error = elements.read(&mut [0; 8]).unwrap_err().to_string();
    assert!(error.contains("raw: the file became shorter while it was read"));

    // The same error if several threads read.
    fs::write(&path, vec![1u8; 9 << 20]).unwrap();
    let mut elements = Elements::<u8>::open_raw(&path).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(5 << 20).unwrap();
    let parallel = elements.read(&mut vec![0; 9 << 20]).unwrap_err();
    assert_eq!(parallel.to_string(), error);
}

#[test]
fn unaligned_elements() {
    let dict = "{'descr':'<f4','fortran_order':False,'shape':(2,)} \n";
    let mut bytes = [b"\x93NUMPY\x01\0", &[dict.len() as u8, 0][..]].concat();
    bytes.extend(dict.as_bytes());
    let offset = bytes.len() as u64;
    assert_eq!(offset % 4, 2);
    bytes.extend([1.5f32, 2.5].map(f32::to_le_bytes).concat());
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npy");
    fs::write(&path, bytes).unwrap();
    assert_eq!(read_npy::<f32>(&path), Ok(vec![1.5, 2.5]));
    // SAFETY: no program writes to the file.
    let error = unsafe { Mapped::<f32>::npy(&path) }.unwrap_err();
    let multiple = 4;
    assert_eq!(
        error,
        Error::MisalignedFile {
            path,
            offset,
            multiple
        }
    );
}

#[test]
fn paths_that_are_not_regular_files() {
    let folder = TempDir::new().unwrap();
    let text = |path: &Path| {
        let error = npy::<f32>(path).unwrap_err();
        assert_eq!(raw::<f32>(path), Err(error.clone()));
        assert!(matches!(error, Error::File { .. }));
        error.to_string()
    };
    let missing = text(&folder.path().join("missing.npy"));
    assert!(missing.contains("missing.npy: No such file"), "{missing}");
    for path in [folder.path(), Path::new("/dev/zero")] {
        assert!(text(path).ends_with(": not a regular file; read a pipe with `file::Stream`"));
    }
}
