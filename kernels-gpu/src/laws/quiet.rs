//! Conversion of panics into text: while proptest looks for the smallest input, there are hundreds of them.

use core::cell::{Cell, RefCell};
use std::boxed::Box;
use std::format;
use std::panic::{self, AssertUnwindSafe};
use std::string::{String, ToString};
use std::sync::Once;
use std::thread_local;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
    /// The call that panicked, from [`panics_name`]; empty if it is unknown.
    static CALL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The result of `f`. If it panics, the text of [`caught`] begins with the name of this call.
pub(super) fn panics_name<T>(f: impl FnOnce() -> T, call: impl FnOnce() -> String) -> T {
    panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        CALL.set(call());
        panic::resume_unwind(panic)
    })
}

/// The result of `f`, or the call that panicked, its location and message: `combine(1, 2) panicked at src/lib.rs:3:4:`.
/// Prints nothing.
pub(super) fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if IS_QUIET.get() {
                TEXT.set(panic.to_string());
            } else {
                loud(panic);
            }
        }));
    });
    let before = IS_QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    IS_QUIET.set(before);
    result.map_err(|_| {
        let (call, text) = (CALL.take(), TEXT.take().replace('\n', "\n  "));
        match call.is_empty() {
            true => text,
            false => format!("{call} {text}"),
        }
    })
}
