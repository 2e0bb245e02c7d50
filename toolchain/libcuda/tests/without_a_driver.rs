//! A program on a machine without a CUDA driver. On a machine with one, the calls return the driver's
//! results, and the first test reports that.

use std::ptr;

use cust_raw::CUresult;
use libcuda::FORWARDED;

#[test]
fn cu_init_answers_no_device() {
    // SAFETY: cuInit may be called at any time; 0 is its only flag.
    let (result, failure) = libcuda::record(|| unsafe { cust_raw::cuInit(0) });
    match libcuda::driver() {
        Err(error) => {
            assert_eq!(result, CUresult::CUDA_ERROR_NO_DEVICE);
            let failure = failure.expect("the failure is recorded");
            assert_eq!((failure.function, failure.code), ("cuInit", 100));
            assert_eq!(error.tried, "libcuda.so.1");
            assert!(error.reason.contains("libcuda.so.1"), "{error}");
            assert_eq!(libcuda::error_name(100), None);
            assert_eq!(libcuda::error_text(100), None);
        }
        Ok(()) => {
            assert_eq!(failure.is_none(), result == CUresult::CUDA_SUCCESS);
            assert_eq!(
                libcuda::error_name(100).as_deref(),
                Some("CUDA_ERROR_NO_DEVICE")
            );
        }
    }
}

/// Without a driver this crate returns the code. With one, the driver returns its own; or there is no
/// context, because another test may have called `cuInit`.
#[test]
fn other_calls_answer_not_initialized() {
    let answers = match libcuda::driver() {
        Err(_) => vec![CUresult::CUDA_ERROR_NOT_INITIALIZED],
        Ok(()) => vec![
            CUresult::CUDA_ERROR_NOT_INITIALIZED,
            CUresult::CUDA_ERROR_INVALID_CONTEXT,
        ],
    };
    let mut address = 0;
    // SAFETY: `address` points to one device pointer.
    let result = unsafe { cust_raw::cuMemAlloc_v2(&mut address, 16) };
    assert!(answers.contains(&result), "{result:?}");
    assert_eq!(address, 0);

    let mut stream = ptr::null_mut();
    // SAFETY: `stream` points to one stream handle.
    let result = unsafe { cust_raw::cuStreamCreateWithPriority(&mut stream, 0, 0) };
    assert!(answers.contains(&result), "{result:?}");
    assert!(stream.is_null());
}

#[test]
fn what_has_been_looked_for_is_not_replaced() {
    let looked_for = libcuda::driver();
    // SAFETY: it returns no function.
    assert_eq!(unsafe { libcuda::install(|_| None) }, Err(libcuda::InUse));
    assert_eq!(libcuda::driver(), looked_for);
}

/// The binary must start on a machine without a driver, so it must not require one.
#[test]
fn this_binary_does_not_need_libcuda() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let needed = needed(&program);
    assert!(
        needed.iter().any(|name| name.starts_with("libc.so")),
        "{needed:?}"
    );
    assert!(
        !needed.iter().any(|name| name.contains("cuda")),
        "{needed:?}"
    );
}

#[test]
fn the_list_names_each_function_once() {
    let mut names = FORWARDED.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FORWARDED.len());
}

/// The `DT_NEEDED` names of a little-endian 64-bit ELF file.
fn needed(elf: &[u8]) -> Vec<String> {
    const PT_LOAD: u64 = 1;
    const PT_DYNAMIC: u64 = 2;
    const DT_NEEDED: u64 = 1;
    const DT_STRTAB: u64 = 5;
    let read = |at: usize, bytes: usize| {
        (0..bytes).fold(0u64, |value, i| value | u64::from(elf[at + i]) << (8 * i))
    };
    let headers: Vec<(u64, usize, u64, usize)> = (0..read(56, 2) as usize)
        .map(|i| read(32, 8) as usize + i * read(54, 2) as usize)
        .map(|at| {
            (
                read(at, 4),
                read(at + 8, 8) as usize,
                read(at + 16, 8),
                read(at + 32, 8) as usize,
            )
        })
        .collect();
    let file_offset = |address: u64| {
        let (_, offset, start, _) = headers
            .iter()
            .find(|h| h.0 == PT_LOAD && (h.2..h.2 + h.3 as u64).contains(&address))
            .expect("the file contains the address");
        offset + (address - start) as usize
    };
    let (_, dynamic, _, size) = headers.iter().find(|h| h.0 == PT_DYNAMIC).unwrap();
    let entries: Vec<(u64, u64)> = (*dynamic..dynamic + size)
        .step_by(16)
        .map(|at| (read(at, 8), read(at + 8, 8)))
        .collect();
    let strings = entries.iter().find(|e| e.0 == DT_STRTAB).unwrap().1;
    let name = |offset: u64| {
        let start = file_offset(strings) + offset as usize;
        let end = start + elf[start..].iter().position(|byte| *byte == 0).unwrap();
        String::from_utf8_lossy(&elf[start..end]).into_owned()
    };
    entries
        .iter()
        .filter(|e| e.0 == DT_NEEDED)
        .map(|e| name(e.1))
        .collect()
}
