//! Captures the messages of kernels' panics.

use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use crate::Site;
use crate::lane::{self, current};

/// Installs a panic hook that stores a kernel's panic for the finding instead of printing it. Other panics go
/// to the previous hook.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let next = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let lane = current();
            if lane.is_null() {
                return next(info);
            }
            // What follows is not the kernel's code.
            lane::set_current(std::ptr::null());
            let said = (message(info), info.location().map(Site::named));
            // SAFETY: the scheduler keeps the running lane.
            let this = unsafe { &*lane };
            *this.panic.borrow_mut() = Some(said);
            lane::set_current(lane);
        }));
    });
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => (*text).into(),
        (_, Some(text)) => text.clone(),
        _ => "the panic's value is not a string".into(),
    }
}
