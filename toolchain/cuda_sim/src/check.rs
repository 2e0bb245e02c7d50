//! Races and uninitialised memory.
