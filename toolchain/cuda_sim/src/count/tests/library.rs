//! Sites in another file, whose name sorts before `sites.rs`.

use crate::Site;
use std::panic::Location;

#[track_caller]
fn here() -> Site {
    Site::of(Location::caller())
}

#[rustfmt::skip]
pub(crate) fn sites() -> [Site; 4] {
    [
        here(), here(),
        here(), here(),
    ]
}
