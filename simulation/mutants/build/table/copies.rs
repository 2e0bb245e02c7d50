//! The copies.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "copy.rs",
    kernels: &["copy_scalar", "copy_vec2", "copy_vec4"],
    mutants: MUTANTS,
};

const WIDE: &[&str] = &["copy_vec2", "copy_vec4"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "one_element_too_many",
        "`<=` for `<`: an element behind the arrays is copied",
        "while i < from.len() {",
        "while i <= from.len() {",
    ),
    mutant(
        "one_word_too_many",
        "`<=` for `<`: a word behind the last whole one is copied",
        "while w < source.len() {",
        "while w <= source.len() {",
    )
    .on(WIDE),
    mutant(
        "neighbours_again",
        "threads advance by one, to words that other threads copy",
        "w += stride;",
        "w += 1;",
    )
    .on(WIDE),
    mutant(
        "blocks_again",
        "every block copies the whole array",
        "grid_dim_x() as usize * threads,",
        "threads,",
    ),
    mutant(
        "every_block_is_the_first",
        "only the first block's elements are copied",
        "block_idx_x() as usize * threads + thread_idx_x() as usize,",
        "thread_idx_x() as usize,",
    ),
    mutant(
        "target_not_asked",
        "treats an unaligned target as aligned to a word",
        "if from.is_aligned_for::<W>() && to.is_aligned_for::<W>() {",
        "if from.is_aligned_for::<W>() {",
    )
    .on(WIDE),
    mutant(
        "no_head",
        "skips the elements before the first word",
        "if thread < head {",
        "if thread < 0 * head {",
    )
    .on(WIDE),
    mutant(
        "head_past_the_end",
        "the array ends before its first word",
        "from.head_len::<W>().min(from.len())",
        "from.head_len::<W>()",
    )
    .on(WIDE),
    mutant(
        "tail_as_if_aligned",
        "the tail starts as if there were no head",
        "let tail = head + words * word;",
        "let tail = words * word;",
    )
    .on(WIDE),
    mutant(
        "tail_without_its_last",
        "skips the last element",
        "if tail + thread < from.len() {",
        "if tail + thread + 1 < from.len() {",
    )
    .on(WIDE),
    mutant(
        "words_as_if_aligned",
        "the number of words is computed as if there were no head",
        "let words = (from.len() - head) / word;",
        "let words = from.len() / word;",
    )
    .on(WIDE),
    mutant(
        "target_without_head",
        "stores the words at the start of the target",
        "to.words::<W>(head, words)",
        "to.words::<W>(0, words)",
    )
    .on(WIDE),
];
