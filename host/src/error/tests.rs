//! The texts of errors.

use super::*;

#[test]
fn texts_have_the_values() {
    let text = Error::BlockSize {
        kernel: "reduce_2",
        threads: 48,
        limit: 1024,
    }
    .to_string();
    assert_eq!(
        text,
        "reduce_2: 48 threads per block; must be a power of two from 32 to 1024"
    );
}

#[test]
fn the_text_of_a_panic_refers_to_standard_error() {
    let text = |code| {
        let error = Error::Cuda {
            function: "cuStreamSynchronize",
            code,
            name: "A_NAME".into(),
            text: "a sentence".into(),
        };
        assert!(error.is_sticky());
        error.to_string()
    };
    let (panic, fault) = (text(710), text(700));
    assert!(
        panic.contains("a kernel panicked, and standard error has"),
        "{panic}"
    );
    assert!(panic.contains("restart the process"), "{panic}");
    assert!(!fault.contains("panicked"), "{fault}");
}

#[test]
fn a_log_follows_the_message() {
    let error = Error::ModuleRejected {
        arch: "sm_90".into(),
        code: 222,
        name: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION".into(),
        text: "the provided PTX was compiled with an unsupported toolchain.".into(),
        log: "ptxas: one\nptxas: two".into(),
    };
    let text = error.to_string();
    assert!(text.starts_with(
        "the driver rejects the sm_90 module: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"
    ));
    assert!(text.ends_with("\n    ptxas: one\n    ptxas: two"), "{text}");
}

#[test]
fn a_device_opened_twice_is_distinguished_from_two_devices() {
    let text = |buffer: &str| {
        let (buffer, device) = (buffer.into(), "NVIDIA H200 (device 0)".into());
        Error::OtherDevice { buffer, device }.to_string()
    };
    assert_eq!(
        text("NVIDIA H200 (device 0)"),
        "the buffer is on NVIDIA H200 (device 0), but the reduction is on NVIDIA H200 (device 0), \
         opened separately: open it once and clone that `Device`"
    );
    assert_eq!(
        text("the CPU"),
        "the buffer is on the CPU, but the reduction is on NVIDIA H200 (device 0)"
    );
}

#[test]
fn the_text_of_a_fault_advises_a_restart() {
    let error = |code| Error::Cuda {
        function: "cuStreamSynchronize",
        code,
        name: "NAME".into(),
        text: "text".into(),
    };
    let text = error(719).to_string();
    assert!(
        text.contains("(719): text; the CUDA context is unusable"),
        "{text}"
    );
    assert!(error(700).is_sticky() && Error::Deferred(Box::new(error(716))).is_sticky());
    assert_eq!(error(2).to_string(), "cuStreamSynchronize: NAME (2): text");
    for code in [0, 1, 2, 400, 701, 709, 713, 720, 900] {
        assert!(!error(code).is_sticky(), "{code}");
    }
}

#[test]
fn hidden_devices_are_named() {
    let visible = Some("".to_string());
    let text = Error::NoDevice { visible }.to_string();
    assert!(text.contains(r#"CUDA_VISIBLE_DEVICES is """#), "{text}");
}
