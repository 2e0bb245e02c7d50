//! The reference in plain loops, for tests: the same operations in the same order give the same bits.

/// One time step of a plate of `columns` cells in each row.
pub fn step(old: &[f32], columns: usize, rate: f32) -> Vec<f32> {
    let rows = old.len() / columns;
    let mut new = Vec::with_capacity(old.len());
    for row in 0..rows {
        for column in 0..columns {
            let at = |column: usize, row: usize| old[row * columns + column];
            let west = at(column.saturating_sub(1), row);
            let east = at((column + 1).min(columns - 1), row);
            let north = at(column, row.saturating_sub(1));
            let south = at(column, (row + 1).min(rows - 1));
            let around = (west + east) + (north + south);
            let here = at(column, row);
            new.push(rate.mul_add(here.mul_add(-4.0, around), here));
        }
    }
    new
}

/// A plate with pseudo-random cells from 0 up to 100.
pub fn plate(columns: usize, rows: usize) -> Vec<f32> {
    let mut state = 1u32;
    let mut draw = || {
        // The generator of "Numerical Recipes".
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 * 100.0
    };
    (0..columns * rows).map(|_| draw()).collect()
}

/// Columns and rows at the boundaries of blocks: one cell, less than a block, one block, one cell more, several
/// blocks.
pub const SIZES: [(usize, usize); 12] = [
    (1, 1),
    (2, 1),
    (1, 50),
    (50, 1),
    (31, 7),
    (32, 8),
    (33, 8),
    (32, 9),
    (33, 9),
    (64, 16),
    (65, 17),
    (100, 3),
];
