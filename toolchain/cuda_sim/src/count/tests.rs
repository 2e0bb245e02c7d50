//! Whole logs, compared with measurements and closed forms.

mod ladder;
mod library;
mod logs;
mod program;
mod programs;
mod random;
mod sites;
