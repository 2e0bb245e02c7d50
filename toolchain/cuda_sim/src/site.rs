//! Source locations of kernels.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError, RwLock};

/// A source location in a kernel: file, line and column.
///
/// Each location exists once per process, so comparing two sites costs no more than comparing integers. Sites
/// of a file are ordered by line and column.
#[derive(Clone, Copy)]
pub struct Site(&'static Place);

struct Place {
    id: u32,
    file: &'static str,
    line: u32,
    column: u32,
}

/// All sites, indexed by their id.
static PLACES: RwLock<Vec<Site>> = RwLock::new(Vec::new());

/// The sites by file, line and column: one location can have several `Location`s.
static KNOWN: LazyLock<Mutex<HashMap<Key, Site>>> = LazyLock::new(Mutex::default);

/// File, line and column.
type Key = (&'static str, u32, u32);

/// Entries of each thread's cache in front of [`KNOWN`].
const CACHED: usize = 256;

thread_local! {
    static CACHE: [Cell<Option<(&'static Location<'static>, Site)>>; CACHED] =
        const { [const { Cell::new(None) }; CACHED] };
}

impl Site {
    /// The caller's site, for `#[track_caller]` functions.
    #[inline]
    pub fn of(location: &'static Location<'static>) -> Self {
        let line = (ptr::from_ref(location) as usize >> 3) % CACHED;
        CACHE.with(|cache| {
            if let Some((cached, site)) = cache[line].get()
                && ptr::eq(cached, location)
            {
                return site;
            }
            let site = Self::intern(location);
            cache[line].set(Some((location, site)));
            site
        })
    }

    /// The site of a location with any lifetime.
    pub(crate) fn named(location: &Location<'_>) -> Self {
        Self::intern(location)
    }

    #[cold]
    fn intern(location: &Location<'_>) -> Self {
        let (file, line, column) = (location.file(), location.line(), location.column());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = known.get(&(file, line, column)) {
            return *site;
        }
        let mut places = PLACES.write().unwrap_or_else(PoisonError::into_inner);
        // Never freed: there is one site per access in the source, and one name per file.
        let file = match places.iter().find(|site| site.0.file == file) {
            Some(site) => site.0.file,
            None => String::from(file).leak(),
        };
        let place = Place {
            id: u32::try_from(places.len()).expect("fewer than 2^32 sites in the source"),
            file,
            line,
            column,
        };
        let site = Self(Box::leak(Box::new(place)));
        places.push(site);
        known.insert((file, line, column), site);
        site
    }

    /// The site with this [`id`](Self::id).
    pub(crate) fn from_id(id: u32) -> Self {
        PLACES
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())[id as usize]
    }

    /// A 32-bit number that identifies the site.
    #[inline]
    pub(crate) fn id(self) -> u32 {
        self.0.id
    }

    /// The file's path, as the compiler got it.
    pub fn file(self) -> &'static str {
        self.0.file
    }

    /// The line, from 1.
    pub fn line(self) -> u32 {
        self.0.line
    }

    /// The column, from 1.
    pub fn column(self) -> u32 {
        self.0.column
    }

    fn key(self) -> Key {
        (self.0.file, self.0.line, self.0.column)
    }
}

impl PartialEq for Site {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Site {}

impl Hash for Site {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl PartialOrd for Site {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Site {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if self == other {
            return std::cmp::Ordering::Equal;
        }
        self.key().cmp(&other.key())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.0.file, self.0.line, self.0.column)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_site() {
        let here = Location::caller();
        assert_eq!(Site::of(here), Site::of(here));
        let (first, second) = (Site::of(Location::caller()), Site::of(Location::caller()));
        assert_ne!(first, second);
        assert!(first < second);
        assert_eq!(Site::from_id(second.id()), second);
        assert!(first.to_string().ends_with(&format!(
            "site.rs:{}:{}",
            first.line(),
            first.column()
        )));
    }
}
