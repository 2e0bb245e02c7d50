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
        "stores a value without its ready flags",
        "READY | u64::from(bits)",
        "u64::from(bits)",
    ),
    mutant(
        "said_in_first_word",
        "stores the ready flag in the first word only",
        "READY | u64::from(bits)",
        "READY >> (word * 32).min(63) & READY | u64::from(bits)",
    ),
    mutant(
        "first_word_believed",
        "treats a value as ready when its first word is",
        "polled.all &= loaded;",
        "if word == 0 { polled.all &= loaded; }",
    ),
    mutant(
        "not_emptied",
        "does not reset the words after the launch",
        "        unrolled!(|word < Self::WORDS| self.store_word(index, word, 0));
",
        "",
    ),
    mutant(
        "first_word_emptied",
        "resets only the first word after the launch",
        "self.store_word(index, word, 0)",
        "self.store_word(index, 0 * word, 0)",
    ),
    mutant(
        "places_overlap",
        "values of several words overlap",
        "let offset = index * Self::WORDS + word;",
        "let offset = index + word;",
    ),
    mutant(
        "two_words_believed",
        "treats a value as ready when its last two words are",
        "polled.all &= loaded;",
        "polled.all &= if word + 2 < Self::WORDS { !0 } else { loaded };",
    )
    .on(&["single_pass_sum_squares_f64"]),
    mutant(
        "words_of_the_first",
        "all words contain the value's first 32 bits",
        "read_word(&value, word)",
        "read_word(&value, 0 * word)",
    )
    .on(&[
        "single_pass_sum_squares_f64",
        "single_pass_arg_min_indexed_i32",
    ]),
    mutant(
        "words_backwards",
        "loads the words in reverse order",
        "write_word(&mut polled.value, word, loaded as u32)",
        "write_word(&mut polled.value, Self::WORDS - 1 - word, loaded as u32)",
    )
    .on(&[
        "single_pass_sum_squares_f64",
        "single_pass_arg_min_indexed_i32",
    ]),
    mutant(
        "a_word_too_few",
        "skips the last word of a value",
        "size_of::<A>().div_ceil(size_of::<u32>())
    };",
        "size_of::<A>().div_ceil(size_of::<u64>())
    };",
    ),
];
