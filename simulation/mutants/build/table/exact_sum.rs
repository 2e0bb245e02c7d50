//! Exact sums.

use super::{Source, mutant};

/// With each fastest way, and with two arrays.
const ALL: &[&str] = &[
    "exact_sum_f32",
    "exact_sum_f64",
    "exact_sum_squares_f64",
    "exact_dot_f32_f32",
];

const PLAIN: &[&str] = &["exact_sum_f32"];

const LONG: &[&str] = &["exact_sum_squares_f64"];

const PAIRS: &[&str] = &["exact_dot_f32_f32"];

pub const SOURCE: Source = Source {
    path: "exact_sum.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "no_barrier_before_cells",
            "reads the digits of a warp that may still add to them",
            "    sum.finish();
    sync_threads();
",
            "    sum.finish();
",
        ),
        mutant(
            "next_keeps_last_cells",
            "the last cell of the next launch is not set to 0",
            "cell < next.len()",
            "cell + 1 < next.len()",
        ),
        mutant(
            "no_barrier_after_clearing",
            "a lane adds to a digit that another lane has not yet set to 0",
            "        unsafe { sync_warp(FULL_MASK) };
",
            "",
        ),
        mutant(
            "no_flush",
            "the digits overflow",
            "unsafe { self.digits.flush(cells) };",
            "",
        ),
        mutant(
            "copied_by_first_block",
            "the first block to finish copies the cells, to which the others still add",
            "== grid_dim_x() - 1",
            "== 0",
        ),
        mutant(
            "terms_of_one_lane_counted",
            "counts the terms of one lane only, although all lanes add to the same digits",
            "WARP_SIZE * (N * R) as u32",
            "(N * R) as u32",
        ),
        mutant(
            "no_vote",
            "each lane chooses its own way",
            "warp_vote_all(FULL_MASK, is_exact)",
            "is_exact",
        ),
        mutant(
            "inexact_sum_kept",
            "a group that could not be added exactly is added in two ways",
            "        if is_exact {
            self.expansion = expansion;
        }
",
            "        self.expansion = expansion;
",
        ),
        mutant(
            "tail_lost",
            "skips the groups that are not whole",
            "        self.add_each(group);
",
            "        if self.rows.is_whole(group) {
            self.add_each(group);
        }
",
        ),
        mutant(
            "flags_of_items_lost",
            "forgets NaN and infinities",
            "self.flags |= self.digits.add_product(a, b);",
            "self.digits.add_product(a, b);",
        ),
        mutant(
            "flags_of_sum_lost",
            "forgets that some item is not -0.0",
            "self.flags |= flags;",
            "",
        ),
        mutant(
            "last_float_lost",
            "adds only two floats of a lane's sum to the digits",
            "while k < terms.len() {",
            "while k + 1 < terms.len() {",
        ),
    ],
};

pub const EXPANSION: Source = Source {
    path: "exact_sum/expansion.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "window_too_large",
            "terms whose exponents differ by one more are added plainly, and the sum is rounded",
            "(f64::MANTISSA_DIGITS - bits)",
            "(f64::MANTISSA_DIGITS + 1 - bits)",
        )
        .on(PLAIN),
        mutant(
            "left_without_low_word",
            "does not see that a small subnormal number is left",
            "left |= rest.to_bits();",
            "left |= rest.to_bits() >> 32;",
        )
        .nth(1, 2)
        .on(&["exact_sum_f64"]),
        mutant(
            "left_of_errors_ignored",
            "does not ask whether the error of a product fits",
            "left |= rest.to_bits();",
            "",
        )
        .nth(2, 2)
        .on(&["exact_sum_squares_f64", "exact_dot_f32_f32"]),
        mutant(
            "errors_of_products_lost",
            "adds rounded products",
            "if O::IS_LONG {",
            "if false {",
        )
        .on(LONG),
        mutant(
            "rest_of_group_lost",
            "does not ask whether the sum of a group fits",
            "(expansion, is_exact && rest.to_bits() == 0)",
            "(expansion, is_exact)",
        )
        .on(PLAIN),
        mutant(
            "small_products_not_asked",
            "the error of a small product is no float, and is lost",
            "smallest >= SMALL",
            "true",
        )
        .on(LONG),
        mutant(
            "window_of_two_too_large",
            "terms whose exponents differ by one more are cut, and the sum of the lower parts is rounded",
            "(2 * f64::MANTISSA_DIGITS - bits)",
            "(2 * f64::MANTISSA_DIGITS + 1 - bits)",
        )
        .on(PLAIN),
        mutant(
            "cut_too_low",
            "the upper parts do not fit into the bits above the cut",
            "+ 1 + growth(N * R);",
            "+ 1;",
        )
        .on(PLAIN),
        mutant(
            "lower_parts_lost",
            "adds the upper parts only",
            "lowers[r] += term - upper;",
            "",
        )
        .on(PLAIN),
        mutant(
            "rest_of_parts_lost",
            "does not ask whether the sums of the parts fit",
            "(expansion, is_exact && is_all)",
            "(expansion, is_exact)",
        )
        .on(PLAIN),
        mutant(
            "zeros_are_positive",
            "the sum of no terms is 0.0, so that all sums of -0.0 are 0.0",
            "let mut sums = [-0.0; R];",
            "let mut sums = [0.0; R];",
        )
        .on(PLAIN),
        mutant(
            "second_is_smaller",
            "the error is right only if the second number is smaller",
            "(a - (sum - of_b)) + (b - of_b)",
            "b - of_b",
        ),
    ],
};

pub const DIGITS: Source = Source {
    path: "exact_sum/digits.rs",
    kernels: ALL,
    mutants: &[
        mutant(
            "most_added_twice",
            "adds twice as many terms as a digit can hold",
            "1 << (i32::BITS - 1 - BITS)",
            "1 << (i32::BITS - BITS)",
        ),
        mutant(
            "upper_digits_shifted",
            "the digits after the first 64 bits are twice as large",
            "integer >> 1 >> (63 - shift)",
            "integer >> (63 - shift)",
        ),
        mutant(
            "last_digit_lost",
            "four digits for up to 79 bits",
            "const DIGITS: usize = 5;",
            "const DIGITS: usize = 4;",
        ),
        mutant(
            "sign_lost",
            "adds magnitudes",
            "if negative { -1 } else { 1 }",
            "1",
        ),
        mutant(
            "upper_product_lost",
            "adds the lower 64 bits of a product only",
            "        self.add_integer(negative, (product >> 64) as u64, exponent + 64);
",
            "",
        )
        .on(LONG),
        mutant(
            "subnormals_as_normal",
            "the exponent of a subnormal number is one too small",
            "0 => (fraction, -1074),",
            "0 => (fraction, -1075),",
        )
        .on(&["exact_sum_f64"]),
        mutant(
            "digits_flushed_too_early",
            "reads digits to which other lanes still add",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(1, 2),
        mutant(
            "digits_added_while_cleared",
            "adds to digits that another lane has not yet set to 0",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(2, 2),
        mutant(
            "flushed_twice",
            "the digits keep what they have added to global memory",
            "self.cells.set(self.first + cell, 0);",
            "",
        ),
        mutant(
            "digits_without_sign",
            "takes negative digits for large ones",
            "sum += i64::from(value);",
            "sum += i64::from(value as u32);",
        ),
    ],
};

pub const ROWS: Source = Source {
    path: "exact_sum/rows.rs",
    kernels: &["exact_sum_f32", "exact_dot_f32_f32"],
    mutants: &[
        mutant(
            "first_group_is_whole",
            "loads a vector before the array",
            "start >= self.skew && ",
            "",
        ),
        mutant(
            "skew_too_large",
            "every vector begins one vector too early",
            ".wrapping_sub(self.skew)",
            ".wrapping_sub(self.skew + N)",
        ),
        mutant(
            "groups_without_skew",
            "the items that the skew moves to one more group are lost",
            "(I::len(self.arrays) + self.skew).div_ceil(Self::GROUP)",
            "I::len(self.arrays).div_ceil(Self::GROUP)",
        ),
        mutant(
            "granules_behind_the_end",
            "does not ask whether the granule after the last vector is in the arrays",
            "I::have_granules::<N>(self.arrays, start) && I::have_granules::<N>(self.arrays, last)",
            "I::have_granules::<N>(self.arrays, start)",
        )
        .on(PAIRS),
    ],
};
