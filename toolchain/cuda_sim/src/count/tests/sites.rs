//! Sites for synthetic instructions.

use crate::Site;
use std::panic::Location;

#[track_caller]
fn here() -> Site {
    Site::of(Location::caller())
}

/// In the order of this file.
#[rustfmt::skip]
pub(crate) fn sites() -> [Site; 48] {
    [
        here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(),
        here(), here(), here(), here(), here(), here(), here(), here(),
    ]
}
