//! Operators that select one of the items.

use super::assert_breaks;
use kernels_gpu::laws::{self, Law};
use kernels_gpu::prelude::*;

// The largest value in the upper half, and in the lower one how far its index is from the last.
operator!(FirstOfLargest: u8 => u64, 0, |x, i| (u64::from(x) + 1) << 44 | (FAR - i), |a, b| a.max(b);
    const SELECTS: bool = true;

    fn precedes(&self, a: u8, b: u8) -> bool {
        a > b
    }

    fn offset(&self, acc: u64, by: u64) -> u64 {
        if acc == 0 { 0 } else { acc - by }
    }
);

/// More than any index.
const FAR: u64 = (1 << 44) - 1;

#[test]
fn an_operator_that_selects_gives_the_first_item_that_no_other_precedes() {
    laws::check(&FirstOfLargest, 0..9u8);
}

operator!(LastOfLargest: u8 => u64, 0, |x, i| (u64::from(x) + 1) << 44 | i, |a, b| a.max(b);
    const SELECTS: bool = true;

    fn precedes(&self, a: u8, b: u8) -> bool {
        a > b
    }

    fn offset(&self, acc: u64, by: u64) -> u64 {
        if acc == 0 { 0 } else { acc + by }
    }
);

#[test]
fn a_selection_of_the_last_of_equal_items_is_caught() {
    let message = "`LastOfLargest` over `u8` breaks the law of selection:
  lift of the first item that no other precedes = 17592186044416
  lift and combine, item by item = 17592186044417
  items, the first at index 0: [0, 0]";
    // One value, because proptest does not shrink two items alike.
    let result = laws::of(&LastOfLargest, 0..1u8).try_check();
    assert_breaks(result, Law::Selection, &[message]);
}
