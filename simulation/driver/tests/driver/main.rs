//! The results of the driver's calls, and the mistakes that they report.

mod context;

use std::ffi::CStr;
use std::ptr;

use context::{Code, Context, call};
use cust_raw::*;

const INVALID_VALUE: Code = 1;
const INVALID_CONTEXT: Code = 201;
const INVALID_PTX: Code = 218;
const INVALID_HANDLE: Code = 400;
const ILLEGAL_STATE: Code = 401;
const NOT_FOUND: Code = 500;
const LAUNCH_FAILED: Code = 719;
const CAPTURE_UNSUPPORTED: Code = 900;
const CAPTURE_INVALIDATED: Code = 901;

const NULL: CUstream = ptr::null_mut();

const MODULE: &CStr = c".version 8.0
.target sm_90
.visible .entry reduce_naive_sum_i32(
.visible .entry stable_sum_i32(
.visible .entry single_pass_dot_i32_i32(
.visible .entry single_pass_horner_u32(
.visible .entry in_no_list()
";

/// The arguments of a launch that adds `n` elements to `cell`.
fn sum(input: u64, n: u64, cell: u64) -> Vec<u64> {
    vec![input, n, cell, 1]
}

fn free_all(context: &Context, addresses: &[u64]) {
    for address in addresses {
        assert_eq!(context.free(*address), Ok(()));
    }
    assert_eq!(cuda_sim_driver::allocated_bytes(), 0);
}

/// The text of the context's failure.
fn found() -> String {
    libcuda::error_text(LAUNCH_FAILED).unwrap()
}

#[test]
fn copies_and_fills() {
    let context = Context::new();
    let (x, y) = (context.upload(&[1, 2, 3, 4]), context.alloc(16).unwrap());
    assert_eq!(cuda_sim_driver::allocated_bytes(), 32);
    assert_eq!((x % 256, y % 256), (0, 0));
    context.fill(y, 0xFF, 16, NULL).unwrap();
    context.copy(y + 4, x, 8, NULL).unwrap();
    assert_eq!(context.read(y, 4), Ok(vec![-1, 1, 2, -1]));
    context.copy(x + 4, x, 12, NULL).unwrap();
    assert_eq!(context.read(x, 4), Ok(vec![1, 1, 2, 3]));
    let mut two = [0i32; 2];
    let host = two.as_mut_ptr();
    // SAFETY: `host` points to two integers; the driver checks the device addresses.
    call(|| unsafe {
        cuMemcpyDtoH_v2(host.cast(), x + 8, 8);
        cuMemcpyHtoD_v2(y, host.cast(), 8);
        cuMemcpyDtoD_v2(y + 8, y, 8)
    })
    .unwrap();
    assert_eq!(two, [2, 3]);
    assert_eq!(context.read(y, 4), Ok(vec![2, 3, 2, 3]));
    free_all(&context, &[x, y]);
}

#[test]
fn copies_outside_an_allocation_are_errors() {
    let context = Context::new();
    let (x, freed) = (context.upload(&[1, 2, 3, 4]), context.alloc(16).unwrap());
    context.free(freed).unwrap();
    for wild in [0, 8, freed, x + 4, x + 17, x - 4] {
        assert_eq!(
            context.write(wild, &[7; 4]),
            Err(INVALID_VALUE),
            "{wild:#x}"
        );
        assert_eq!(context.read(wild, 4), Err(INVALID_VALUE), "{wild:#x}");
        assert_eq!(
            context.fill(wild, 7, 16, NULL),
            Err(INVALID_VALUE),
            "{wild:#x}"
        );
        assert_eq!(
            context.copy(wild, x, 16, NULL),
            Err(INVALID_VALUE),
            "{wild:#x}"
        );
        assert_eq!(
            context.copy(x, wild, 16, NULL),
            Err(INVALID_VALUE),
            "{wild:#x}"
        );
    }
    assert_eq!(context.read(x, 4), Ok(vec![1, 2, 3, 4]));
    free_all(&context, &[x]);
}

#[test]
fn memory_is_freed_once_with_the_function_of_its_kind() {
    let context = Context::new();
    let x = context.alloc(4).unwrap();
    let mut locked = ptr::null_mut();
    // SAFETY: a pointer to an address.
    call(|| unsafe { cuMemAllocHost_v2(&mut locked, 24) }).unwrap();
    assert_eq!(cuda_sim_driver::allocated_bytes(), 28);
    assert_eq!(context.free(x + 1), Err(INVALID_VALUE));
    assert_eq!(context.free(locked.addr() as u64), Err(INVALID_VALUE));
    // SAFETY: the driver checks the address.
    call(|| unsafe { cuMemFreeHost(locked) }).unwrap();
    assert_eq!(context.free(x), Ok(()));
    assert_eq!(context.free(x), Err(INVALID_VALUE));
    assert_eq!(context.alloc(0), Err(INVALID_VALUE));
    assert_eq!(context.alloc(2 << 30), Err(2));
    assert_eq!(cuda_sim_driver::allocated_bytes(), 0);
}

#[test]
fn a_launch_computes() {
    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    let function = context.function(module, c"reduce_naive_sum_i32").unwrap();
    let (x, cell) = (context.upload(&[1; 100]), context.upload(&[5]));
    context
        .launch(function, [4, 32, 0], NULL, sum(x, 100, cell))
        .unwrap();
    assert_eq!(context.synchronize(), Ok(()));
    assert_eq!(context.read(cell, 1), Ok(vec![105]));
    for shape in [[0, 32, 0], [1, 0, 0], [1, 1025, 0], [1, 32, 48 * 1024 + 1]] {
        let launched = context.launch(function, shape, NULL, sum(x, 100, cell));
        assert_eq!(launched, Err(INVALID_VALUE), "{shape:?}");
    }
    free_all(&context, &[x, cell]);
}

#[test]
fn an_array_longer_than_its_allocation_makes_the_context_fail() {
    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    let function = context.function(module, c"reduce_naive_sum_i32").unwrap();
    let (x, cell) = (context.upload(&[1; 100]), context.upload(&[0]));
    let launched = context.launch(function, [4, 32, 0], NULL, sum(x, 101, cell));
    assert_eq!(launched, Ok(()));
    assert_eq!(context.synchronize(), Err(LAUNCH_FAILED));
    assert_eq!(
        found(),
        "kernel `reduce_naive_sum_i32`: out of bounds: `input` is 404 bytes, at byte 0 of an \
         allocation of 400"
    );
    assert_eq!(context.alloc(4), Err(LAUNCH_FAILED));
    assert_eq!(context.free(x), Err(LAUNCH_FAILED));
    assert_eq!(context.read(cell, 1), Err(LAUNCH_FAILED));
    assert_eq!(context.load(MODULE), Err(LAUNCH_FAILED));
    drop(context);

    let context = Context::new();
    assert_eq!(context.synchronize(), Ok(()));
    assert!(!found().contains("out of bounds"));
}

#[test]
fn arrays_outside_an_allocation_are_found() {
    for (input, output) in [
        (None, Some(0)),
        (Some(0), None),
        (Some(2), Some(0)),
        (Some(0), Some(4)),
    ] {
        let context = Context::new();
        let module = context.load(MODULE).unwrap();
        let function = context.function(module, c"reduce_naive_sum_i32").unwrap();
        let memory = context.upload(&[0; 2]);
        let freed = context.upload(&[0; 2]);
        context.free(freed).unwrap();
        let address = |offset: Option<u64>| offset.map_or(freed, |offset| memory + offset);
        let words = vec![address(input), 1, address(output), 2];
        context.launch(function, [1, 32, 0], NULL, words).unwrap();
        assert_eq!(
            context.synchronize(),
            Err(LAUNCH_FAILED),
            "{input:?} {output:?}"
        );
    }
}

#[test]
fn two_inputs_of_different_lengths_are_found() {
    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    let function = context
        .function(module, c"single_pass_dot_i32_i32")
        .unwrap();
    let (a, b) = (context.upload(&[1; 8]), context.upload(&[2; 8]));
    let (result, arrivals) = (context.upload(&[0; 2]), context.upload(&[0]));
    let partials = context.upload(&[0; 4]);
    let words = |n| vec![a, 8, b, n, partials, 1, arrivals, 1, result];
    context
        .launch(function, [1, 32, 8], NULL, words(8))
        .unwrap();
    assert_eq!(context.read(result, 2), Ok(vec![16, 0]));
    context
        .launch(function, [1, 32, 8], NULL, words(7))
        .unwrap();
    assert_eq!(context.synchronize(), Err(LAUNCH_FAILED));
    assert!(found().contains("`a` and `b`"), "{}", found());
}

#[test]
fn kernels_of_other_crates_run_with_the_value_of_an_operator() {
    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    cuda_sim_driver::register(&kernels_sim::kernels::KERNELS);
    let function = context.function(module, c"single_pass_horner_u32").unwrap();
    let (x, result) = (context.upload(&[3, 1, 4]), context.upload(&[0; 2]));
    let (partials, arrivals) = (context.upload(&[0; 4]), context.upload(&[0]));
    // The operator's value is a number in the first bytes of a word.
    let words = vec![x, 3, 10, partials, 1, arrivals, 1, result];
    context.launch(function, [1, 32, 8], NULL, words).unwrap();
    assert_eq!(context.synchronize(), Ok(()));
    // Each coefficient times its power of ten: 300 + 20 + 6.
    assert_eq!(context.read(result, 2), Ok(vec![326, 1000]));
    free_all(&context, &[x, result, partials, arrivals]);
}

#[test]
fn a_read_array_must_be_aligned() {
    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    let function = context.function(module, c"reduce_naive_sum_i32").unwrap();
    let (x, cell) = (context.upload(&[1; 8]), context.upload(&[0]));
    let words = sum(x + 2, 4, cell);
    context.launch(function, [1, 32, 0], NULL, words).unwrap();
    assert_eq!(context.synchronize(), Err(LAUNCH_FAILED));
    assert!(found().contains("not valid for a slice"), "{}", found());
}

#[test]
fn findings_of_the_simulator_are_reported() {
    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    let function = context.function(module, c"stable_sum_i32").unwrap();
    let (x, partials) = (context.upload(&[1; 128]), context.upload(&[0; 2]));
    // There is no memory for the second block's partial.
    let words = vec![x, 128, partials, 1];
    context.launch(function, [2, 32, 4], NULL, words).unwrap();
    assert_eq!(context.synchronize(), Err(LAUNCH_FAILED));
    let text = found();
    assert!(
        text.contains("kernel `stable_sum_i32`: block 1 thread 0"),
        "{text}"
    );
    assert!(
        text.contains("at kernels-gpu/src/kepler/stable.rs:"),
        "{text}"
    );
    drop(context);

    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    let function = context.function(module, c"stable_sum_i32").unwrap();
    let x = context.upload(&[1; 128]);
    // The partials overlap the input, which other blocks read.
    context
        .launch(function, [2, 32, 4], NULL, vec![x, 128, x, 2])
        .unwrap();
    assert_eq!(context.synchronize(), Err(LAUNCH_FAILED));
    assert!(found().contains("race in global memory"), "{}", found());
}

#[test]
fn a_graph_repeats_the_captured_commands() {
    let context = Context::new();
    let module = context.load(MODULE).unwrap();
    let function = context.function(module, c"reduce_naive_sum_i32").unwrap();
    let (x, cell, copied) = (
        context.upload(&[1; 8]),
        context.upload(&[0]),
        context.upload(&[0]),
    );
    let stream = context.stream();
    assert_eq!(context.is_capturing(stream), Ok(false));
    context.begin_capture(stream).unwrap();
    assert_eq!(context.is_capturing(stream), Ok(true));
    context.fill(x, 0, 8, stream).unwrap();
    context
        .launch(function, [1, 32, 0], stream, sum(x, 8, cell))
        .unwrap();
    context.copy(copied, cell, 4, stream).unwrap();
    let graph = context.end_capture(stream).unwrap();
    let state = || {
        (
            context.read(x, 3).unwrap(),
            context.read(cell, 1).unwrap()[0],
        )
    };
    assert_eq!(state(), (vec![1, 1, 1], 0));

    let mut executable = ptr::null_mut();
    // SAFETY: a pointer to a handle, and a graph that exists.
    call(|| unsafe {
        cuGraphInstantiateWithFlags(&mut executable, graph, 0);
        cuGraphDestroy(graph)
    })
    .unwrap();
    for launches in 1..=3 {
        // SAFETY: both exist.
        call(|| unsafe { cuGraphLaunch(executable, stream) }).unwrap();
        assert_eq!(state(), (vec![0, 0, 1], 6 * launches));
        assert_eq!(context.read(copied, 1), Ok(vec![6 * launches]));
    }
    // SAFETY: the driver checks the handles.
    let twice = call(|| unsafe {
        cuGraphExecDestroy(executable);
        cuGraphExecDestroy(executable)
    });
    assert_eq!(twice, Err(INVALID_HANDLE));
    free_all(&context, &[x, cell, copied]);
}

#[test]
fn a_forbidden_call_invalidates_the_capture() {
    let context = Context::new();
    let (x, stream) = (context.upload(&[1; 8]), context.stream());
    assert_eq!(context.end_capture(stream), Err(ILLEGAL_STATE));
    assert_eq!(context.begin_capture(NULL), Err(CAPTURE_UNSUPPORTED));
    let forbidden: [&dyn Fn() -> Result<(), Code>; 4] = [
        &|| context.synchronize(),
        // SAFETY: the stream exists.
        &|| call(|| unsafe { cuStreamSynchronize(stream) }),
        &|| context.alloc(4).map(drop),
        &|| context.free(x),
    ];
    for forbidden in forbidden {
        context.begin_capture(stream).unwrap();
        assert_eq!(context.begin_capture(stream), Err(ILLEGAL_STATE));
        assert_eq!(forbidden(), Err(CAPTURE_UNSUPPORTED));
        assert_eq!(context.fill(x, 0, 4, stream), Err(CAPTURE_INVALIDATED));
        assert_eq!(context.end_capture(stream), Err(CAPTURE_INVALIDATED));
    }
    assert_eq!(context.read(x, 1), Ok(vec![1]));
    free_all(&context, &[x]);
}

#[test]
fn missing_modules_and_functions() {
    let context = Context::new();
    assert_eq!(context.load(c"not PTX"), Err(INVALID_PTX));
    assert_eq!(context.load(c""), Err(INVALID_PTX));
    let module = context.load(MODULE).unwrap();
    let function = context.function(module, c"stable_sum_i32").unwrap();
    // An entry of the module that is in no list, an entry that the module lacks, and an unknown name.
    for name in [c"in_no_list", c"stable_sum_f32", c"stable"] {
        assert_eq!(context.function(module, name), Err(NOT_FOUND), "{name:?}");
    }
    // SAFETY: the driver checks the handle.
    call(|| unsafe { cuModuleUnload(module) }).unwrap();
    assert_eq!(
        context.function(module, c"stable_sum_i32"),
        Err(INVALID_HANDLE)
    );
    let x = context.upload(&[1]);
    let launched = context.launch(function, [1, 32, 4], NULL, vec![x, 1, x, 1]);
    assert_eq!(launched, Err(INVALID_HANDLE));
    free_all(&context, &[x]);
}

#[test]
fn the_log_has_the_reason_why_a_module_is_rejected() {
    let _context = Context::new();
    let mut log = [0u8; 100];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(log.len()),
    ];
    let (mut module, image) = (ptr::null_mut(), c".version 8.0\n");
    // SAFETY: a pointer to a handle, a nul-terminated text, and two options with their values.
    let loaded = call(|| unsafe {
        let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
        cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), 2, options, values)
    });
    assert_eq!(loaded, Err(INVALID_PTX));
    let log = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert_eq!(log, "the module has no .version or no .target");
}

#[test]
fn each_thread_has_its_own_current_context() {
    let context = Context::new();
    std::thread::scope(|scope| {
        let other_thread = scope.spawn(|| context.synchronize());
        assert_eq!(other_thread.join().unwrap(), Err(INVALID_CONTEXT));
    });
    assert_eq!(context.synchronize(), Ok(()));
    assert_eq!(
        libcuda::error_name(201).as_deref(),
        Some("CUDA_ERROR_INVALID_CONTEXT")
    );
    assert_eq!(libcuda::error_name(12345), None);
}

#[test]
fn events_measure_the_time_between_them() {
    let context = Context::new();
    let stream = context.stream();
    let (mut start, mut end, mut milliseconds) = (ptr::null_mut(), ptr::null_mut(), 0.0);
    // SAFETY: pointers to handles and to the time; events and stream exist.
    let timed = call(|| unsafe {
        cuEventCreate(&mut start, 0);
        cuEventCreate(&mut end, 0);
        cuEventRecord(start, stream);
        std::thread::sleep(std::time::Duration::from_millis(5));
        cuEventRecord(end, stream);
        cuEventSynchronize(end);
        cuEventElapsedTime(&mut milliseconds, start, end)
    });
    assert_eq!(timed, Ok(()));
    assert!(milliseconds >= 5.0, "{milliseconds} ms");
    // SAFETY: the driver checks the handles.
    let twice = call(|| unsafe {
        cuEventDestroy_v2(start);
        cuEventDestroy_v2(start)
    });
    assert_eq!(twice, Err(INVALID_HANDLE));
}

#[test]
fn attributes_of_addresses() {
    let context = Context::new();
    let x = context.alloc(100).unwrap();
    let get = |attribute, address| {
        let mut value = 0u64;
        // SAFETY: the pointer is valid for the value of each attribute below.
        let result =
            call(|| unsafe { cuPointerGetAttribute((&raw mut value).cast(), attribute, address) });
        result.map(|()| value)
    };
    use CUpointer_attribute::*;
    assert_eq!(get(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x + 99), Ok(2));
    assert_eq!(get(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, x + 99), Ok(x));
    assert_eq!(get(CU_POINTER_ATTRIBUTE_RANGE_SIZE, x), Ok(100));
    assert_eq!(
        get(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x + 100),
        Err(INVALID_VALUE)
    );
    free_all(&context, &[x]);
}
