//! The words in which blocks hand partials over.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "mem/partials.rs",
    kernels: &[
        "single_pass_sum_i32",
        "single_pass_sum_wide_i32",
        "single_pass_sum_squares_f64",
    ],
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
        "the other words do not say that they are there",
        "LEFT | u64::from(bits)",
        "LEFT >> (word * 32).min(63) & LEFT | u64::from(bits)",
    ),
    mutant(
        "first_word_believed",
        "a value is taken for whole when its first word is there",
        "look.all &= found;",
        "if word == 0 { look.all &= found; }",
    ),
    mutant(
        "not_emptied",
        "the next launch finds the values of this one",
        "        unrolled!(|word < Self::WORDS| self.store(index, word, 0));
",
        "",
    ),
    mutant(
        "first_word_emptied",
        "the next launch finds other words of this one",
        "self.store(index, word, 0)",
        "self.store(index, 0 * word, 0)",
    ),
    mutant(
        "places_overlap",
        "a place is one word, however many a value has",
        "let place = index * Self::WORDS + word;",
        "let place = index + word;",
    ),
    mutant(
        "two_words_believed",
        "a value of more words is taken for whole when its last two are there",
        "look.all &= found;",
        "look.all &= if word + 2 < Self::WORDS { !0 } else { found };",
    )
    .on(&["single_pass_sum_squares_f64"]),
    mutant(
        "words_of_the_first",
        "every word carries the value's first 32 bits",
        "read_word(&value, word)",
        "read_word(&value, 0 * word)",
    )
    .on(&[
        "single_pass_sum_squares_f64",
        "single_pass_arg_min_indexed_i32",
    ]),
    mutant(
        "words_backwards",
        "the words are taken in the other order than they are left",
        "write_word(&mut look.value, word, found as u32)",
        "write_word(&mut look.value, Self::WORDS - 1 - word, found as u32)",
    )
    .on(&[
        "single_pass_sum_squares_f64",
        "single_pass_arg_min_indexed_i32",
    ]),
    mutant(
        "a_word_too_few",
        "the last word of a value is left out",
        "size_of::<A>().div_ceil(size_of::<u32>())
    };",
        "size_of::<A>().div_ceil(size_of::<u64>())
    };",
    ),
];
