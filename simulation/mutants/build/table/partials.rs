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
        "READY | u64::from(bits)",
        "u64::from(bits)",
    ),
    mutant(
        "said_in_first_word",
        "the other words do not say that they are there",
        "READY | u64::from(bits)",
        "READY >> (word * 32).min(63) & READY | u64::from(bits)",
    ),
    mutant(
        "first_word_believed",
        "a value is taken for whole when its first word is there",
        "polled.all &= loaded;",
        "if word == 0 { polled.all &= loaded; }",
    ),
    mutant(
        "not_emptied",
        "the next launch finds the values of this one",
        "        unrolled!(|word < Self::WORDS| self.store_word(index, word, 0));
",
        "",
    ),
    mutant(
        "first_word_emptied",
        "the next launch finds other words of this one",
        "self.store_word(index, word, 0)",
        "self.store_word(index, 0 * word, 0)",
    ),
    mutant(
        "places_overlap",
        "a place is one word, however many a value has",
        "let offset = index * Self::WORDS + word;",
        "let offset = index + word;",
    ),
    mutant(
        "two_words_believed",
        "a value of more words is taken for whole when its last two are there",
        "polled.all &= loaded;",
        "polled.all &= if word + 2 < Self::WORDS { !0 } else { loaded };",
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
        "write_word(&mut polled.value, word, loaded as u32)",
        "write_word(&mut polled.value, Self::WORDS - 1 - word, loaded as u32)",
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
