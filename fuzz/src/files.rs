//! Fuzzes the readers of `.npy` and raw files.

use std::cell::RefCell;
use std::io::{Seek, Write};

use npyz::Order;
use tempfile::NamedTempFile;
use warpfold::file::{DType, Elements, Mapped, NpyHeader, Stream, read_npy, read_raw};
use warpfold::{Device, Element, Error, bf16, f16};

/// The first byte selects the element type; the rest is the file.
///
/// - Every reader returns the same elements or the same error. Elements are the file's bytes, swapped if
///   big-endian.
/// - `npyz` reads the same header.
pub fn files(bytes: &[u8]) {
    let Some((first, content)) = bytes.split_first() else {
        return;
    };
    header(content);
    let dtype = DType::ALL[usize::from(*first) % DType::ALL.len()];
    match dtype {
        DType::I8 => elements::<i8>(content),
        DType::I16 => elements::<i16>(content),
        DType::I32 => elements::<i32>(content),
        DType::I64 => elements::<i64>(content),
        DType::U8 => elements::<u8>(content),
        DType::U16 => elements::<u16>(content),
        DType::U32 => elements::<u32>(content),
        DType::U64 => elements::<u64>(content),
        DType::F16 => elements::<f16>(content),
        DType::Bf16 => elements::<bf16>(content),
        DType::F32 => elements::<f32>(content),
        DType::F64 => elements::<f64>(content),
    }
}

fn header(content: &[u8]) {
    let Ok(header) = NpyHeader::read(content, "bytes") else {
        return;
    };
    let Ok(dtype) = header.dtype() else {
        return;
    };
    let end = usize::try_from(header.offset()).expect("a header is short");
    let text = &content[..end];
    // `npyz` rejects Python 2's `3L` and line ends between tokens, or panics. It also panics if the product
    // of a shape overflows before a zero.
    let start = if text[6] == 1 { 10 } else { 12 }; // format version 1
    let dict = &text[start..];
    let dict = dict.strip_suffix(b"\n").unwrap_or(dict);
    let is_supported = dict.iter().all(|byte| !b"L\r\n".contains(byte));
    let mut product = header.shape().iter();
    let product = product.try_fold(1u64, |all, n| all.checked_mul((*n).max(1)));
    if !is_supported || product.is_none() {
        return;
    }
    let theirs = npyz::NpyHeader::from_reader(text).expect("npyz reads it too");
    assert_eq!(header.shape(), theirs.shape());
    assert_eq!(header.len(), theirs.len());
    assert_eq!(header.fortran_order(), theirs.order() == Order::Fortran);
    assert_eq!(Some(dtype.size()), theirs.dtype().num_bytes());
}

fn elements<T: Element>(content: &[u8]) {
    thread_local! {
        static FILE: RefCell<NamedTempFile> = RefCell::new(
            NamedTempFile::new_in(super::in_memory()).expect("a temporary file")
        );
    }
    FILE.with_borrow_mut(|file| {
        file.as_file().set_len(0).expect("the file is writable");
        file.rewind().expect("the file is seekable");
        file.write_all(content).expect("the file is writable");
        let path = file.path();

        let npy = read_npy::<T>(path);
        let pieces = Elements::open_npy(path).and_then(in_pieces);
        // SAFETY: only this thread uses the file, and it writes only after the mapping is dropped.
        let mapped = unsafe { Mapped::npy(path) };
        let streamed = Stream::npy(content, path).and_then(in_pieces_of_stream::<T>);
        assert_eq!(npy.as_deref().map(bits), streamed.as_deref().map(bits));
        same(content, npy, pieces, mapped, || {
            let header = NpyHeader::of_file(path).expect("`read_npy` has read it");
            let offset = usize::try_from(header.offset()).expect("a header is short");
            (offset, header.big_endian())
        });

        let raw = read_raw::<T>(path);
        let pieces = Elements::open_raw(path).and_then(in_pieces);
        // SAFETY: as above.
        let mapped = unsafe { Mapped::raw(path) };
        assert_eq!(raw.is_ok(), content.len().is_multiple_of(size_of::<T>()));
        let streamed = in_pieces_of_stream::<T>(Stream::raw(content, path));
        assert_eq!(raw.as_deref().map(bits), streamed.as_deref().map(bits));
        same(content, raw, pieces, mapped, || (0, false));
    });
}

/// The elements' bytes, because a NaN is not equal to itself.
fn bits<T: Element>(elements: &[T]) -> &[u8] {
    let (start, len) = (elements.as_ptr().cast(), size_of_val(elements));
    // SAFETY: the bytes of `elements`, borrowed as they are; an element has no padding.
    unsafe { std::slice::from_raw_parts(start, len) }
}

/// Checks that all readers return the same; `layout` is the offset of the elements, and whether they are
/// big-endian.
fn same<T: Element>(
    content: &[u8],
    all: Result<Vec<T>, Error>,
    pieces: Result<Vec<T>, Error>,
    mapped: Result<Mapped<T>, Error>,
    layout: impl FnOnce() -> (usize, bool),
) {
    match all {
        Ok(all) => {
            let ((offset, big_endian), all) = (layout(), bits(&all));
            let mut right = content[offset..offset + all.len()].to_vec();
            if big_endian {
                right.chunks_mut(size_of::<T>()).for_each(<[u8]>::reverse);
            }
            assert_eq!(all, right);
            assert_eq!(all, bits(&pieces.expect("reading all at once succeeds")));
            match mapped {
                Ok(mapped) => assert_eq!(all, bits(&mapped)),
                Err(Error::MisalignedFile { .. }) => {
                    assert!(!offset.is_multiple_of(align_of::<T>()));
                }
                Err(error) => panic!("reading all at once succeeds, but mapping fails: {error}"),
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(pieces, Err(error.clone()));
            assert_eq!(mapped.err(), Some(error));
        }
    }
}

fn in_pieces<T: Element>(mut elements: Elements<T>) -> Result<Vec<T>, Error> {
    let mut piece = Device::cpu().alloc(3)?.download()?;
    let mut all = vec![];
    while let Some(n) = elements.read(&mut piece)? {
        all.extend_from_slice(&piece[..n]);
    }
    assert_eq!(all.len(), elements.len());
    Ok(all)
}

fn in_pieces_of_stream<T: Element>(mut stream: Stream<T, &[u8]>) -> Result<Vec<T>, Error> {
    let mut piece = Device::cpu().alloc(3)?.download()?;
    let mut all = vec![];
    while let Some(n) = stream.read(&mut piece)? {
        all.extend_from_slice(&piece[..n]);
    }
    Ok(all)
}
