//! What a kernel says when it panics.

use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use crate::Site;
use crate::lane::{self, current};

/// Puts a hook before the program's own: a panic inside of a kernel is kept for the finding and not
/// printed.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let next = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let lane = current();
            if lane.is_null() {
                return next(info);
            }
            // What follows is the simulator's own doing.
            lane::set_current(std::ptr::null());
            let said = (message(info), info.location().map(Site::named));
            // SAFETY: the scheduler keeps the lane that runs.
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
        _ => "a value that is no text".into(),
    }
}
