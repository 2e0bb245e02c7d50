//! LLVM's fatal errors: each ends a thread, but not the process.
//!
//! If the back end has no instruction for an operation, LLVM calls a handler, and ends the process if the
//! handler returns. So work that may fail runs in its own thread. The handler sends the message to the
//! waiting thread, and then sleeps until the process ends.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic;
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Receives the message of an error.
type Report = Box<dyn Fn(String)>;

thread_local! {
    /// The receiver for fatal errors of this thread.
    static REPORT: RefCell<Option<Report>> = const { RefCell::new(None) };
}

/// The handler for LLVM.
pub(super) extern "C" fn handle(reason: *const c_char) {
    // SAFETY: LLVM passes a C string that is valid during the call.
    let reason = unsafe { CStr::from_ptr(reason) }
        .to_string_lossy()
        .into_owned();
    let report = REPORT.with(|report| report.borrow_mut().take());
    // Without a receiver, this returns; LLVM then prints the message and ends the process.
    if let Some(report) = report {
        report(reason);
        loop {
            thread::park();
        }
    }
}

/// Runs `work` in another thread. Returns its result, or the message of LLVM's fatal error.
pub(crate) fn catch<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, String> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        let of_handler: Sender<Result<R, String>> = sender.clone();
        REPORT.with(|report| {
            *report.borrow_mut() = Some(Box::new(move |reason| {
                // The receiver waits below.
                let _ = of_handler.send(Err(reason));
            }));
        });
        let _ = sender.send(Ok(work()));
    });
    receiver.recv().unwrap_or_else(|_| match thread.join() {
        Err(panicked) => panic::resume_unwind(panicked),
        Ok(()) => unreachable!("a thread without a panic has sent its result"),
    })
}

#[cfg(test)]
mod tests {
    use super::{catch, handle};

    #[test]
    fn a_fatal_error_is_an_error_and_a_panic_stays_one() {
        assert_eq!(catch(|| 7), Ok(7));
        let failed = catch(|| handle(c"no such instruction".as_ptr()));
        assert_eq!(failed, Err("no such instruction".to_owned()));
        let panicked = std::panic::catch_unwind(|| catch(|| panic!("on purpose")));
        assert!(panicked.is_err());
    }
}
