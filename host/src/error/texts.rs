//! Parts of the errors' texts.

/// `CUDA_ERROR_ASSERT`: a kernel has panicked and printed the message.
const ASSERT: i32 = 710;

pub(super) fn sticky(code: i32) -> bool {
    const ILLEGAL_ADDRESS: i32 = 700;
    const LAUNCH_TIMEOUT: i32 = 702;
    const HARDWARE_STACK_ERROR: i32 = 714;
    const LAUNCH_FAILED: i32 = 719;
    matches!(
        code,
        ILLEGAL_ADDRESS | LAUNCH_TIMEOUT | ASSERT | HARDWARE_STACK_ERROR..=LAUNCH_FAILED
    )
}

pub(super) fn advice(code: i32) -> &'static str {
    match sticky(code) {
        true if code == ASSERT => {
            "; a kernel panicked, and standard error has its file, line, block, thread and message; the CUDA \
             context is unusable after this error: restart the process"
        }
        true => {
            "; the CUDA context is unusable after this error: restart the process (compute-sanitizer names \
             the kernel's fault)"
        }
        false => "",
    }
}

/// 2^64 - 1 stands for any larger number.
pub(super) fn bytes(needs: u64) -> String {
    match needs {
        u64::MAX => "2^64 or more".into(),
        needs => needs.to_string(),
    }
}

/// An addition to the text if there is an offset before the bad one.
pub(super) fn after(before: &Option<i128>) -> String {
    before.map_or(String::new(), |before| format!(", after {before}"))
}

/// The greatest offset.
pub(super) fn most(len: &Option<usize>) -> String {
    len.map_or("the number of items".into(), |len| len.to_string())
}

pub(super) fn hidden(visible: &Option<String>) -> String {
    match visible {
        Some(value) => format!(" (CUDA_VISIBLE_DEVICES is {value:?})"),
        None => String::new(),
    }
}

/// An addition to the text if one device has been opened twice; only then are index and name equal.
pub(super) fn twice(buffer: &str, device: &str) -> &'static str {
    match buffer == device {
        true => ", opened separately: open it once and clone that `Device`",
        false => "",
    }
}

pub(super) fn indented(log: &str) -> String {
    log.lines().map(|line| format!("\n    {line}")).collect()
}
