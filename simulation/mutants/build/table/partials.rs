//! The words in which blocks hand partials over.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "mem/partials.rs",
    kernels: &["single_pass"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "nothing_said",
        "a value is left, and no word says so",
        "LEFT | u64::from(bits)",
        "u64::from(bits)",
    ),
    mutant(
        "said_in_first_word",
        "the second half does not say that it is there",
        "LEFT | u64::from(bits)",
        "LEFT >> (half * 32) & LEFT | u64::from(bits)",
    ),
    mutant(
        "first_word_believed",
        "a value is taken for whole when its first half is there",
        "all &= self.words[half]",
        "all &= self.words[0 * half]",
    ),
    mutant(
        "not_emptied",
        "the next launch finds the values of this one",
        "        unrolled!(|half < Self::WORDS| self.store(index, half, 0));
",
        "",
    ),
    mutant(
        "first_word_emptied",
        "the next launch finds second halves of this one",
        "self.store(index, half, 0)",
        "self.store(index, 0 * half, 0)",
    ),
    mutant(
        "places_overlap",
        "a place is one word, however many a value has",
        "let place = index * Self::WORDS + half;",
        "let place = index + half;",
    ),
];
