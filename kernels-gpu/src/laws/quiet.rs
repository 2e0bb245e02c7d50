//! Conversion of panics into text: while proptest looks for the smallest input, there are hundreds of them.

use core::cell::{Cell, RefCell};
use std::boxed::Box;
use std::panic::{self, AssertUnwindSafe};
use std::string::{String, ToString};
use std::sync::Once;
use std::thread_local;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The result of `f`, or the message and location of its panic. Prints nothing.
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
    result.map_err(|_| TEXT.take())
}
