//! What the hardware would have had to do.
