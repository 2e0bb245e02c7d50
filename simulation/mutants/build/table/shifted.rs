//! Vectors of arrays that start at any element.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "mem/shifted.rs",
    kernels: &["single_pass_horner_u32"],
    mutants: MUTANTS,
};

/// Granules of 16 bytes for elements of one byte.
const BYTES: &[&str] = &["single_pass_mean_variance_i8"];

/// Granules of 16 bytes for elements of 8 bytes that start at multiples of 2.
const HALVES: &[&str] = &["single_pass_parity_u16_4"];

/// Granules of 8 and 16 bytes, and elements that are loaded one by one.
const VOLUME: &[&str] = &["single_pass_volume_f32_f64_i8"];

/// Granules of 16 and 4 bytes.
const PAIR: &[&str] = &["single_pass_horner_u32_u8"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_granule_behind",
        "loads as many granules as for a vector that starts with one",
        "const GRANULES: usize = Self::LOADS + 1;",
        "const GRANULES: usize = Self::LOADS;",
    ),
    mutant(
        "element_of_the_first",
        "loads the first element of a vector for all of them",
        "vector[e] = array.get(first + e)",
        "vector[e] = array.get(first + 0 * e)",
    )
    .on(VOLUME),
    mutant(
        "start_within_a_word",
        "shifts by bytes of a word only",
        "let bytes = at.addr() % Self::GRANULE;",
        "let bytes = at.addr() % size_of::<u32>();",
    ),
    mutant(
        "granules_overlap",
        "puts a granule one word behind the one before",
        "words[g * Self::GRANULE_WORDS + w] = granule[w]",
        "words[g + w] = granule[w]",
    ),
    mutant(
        "shift_by_8_of_no_vector",
        "does not shift by 8 bytes",
        "if Self::GRANULE > 8 && bytes & 8 != 0 {",
        "if Self::GRANULE > 16 && bytes & 8 != 0 {",
    ),
    mutant(
        "shift_by_8_of_the_others",
        "shifts by 8 bytes unless the start requires it",
        "bytes & 8 != 0",
        "bytes & 8 == 0",
    ),
    mutant(
        "shift_by_4_for_8",
        "shifts by one word instead of two",
        "words[w] = words[w + 2]",
        "words[w] = words[w + 1]",
    ),
    mutant(
        "shift_by_4_of_wide_granules",
        "does not shift by 4 bytes if granules have 8",
        "if Self::GRANULE > 4 && bytes & 4 != 0 {",
        "if Self::GRANULE > 8 && bytes & 4 != 0 {",
    )
    .on(VOLUME),
    mutant(
        "shift_by_4_of_the_others",
        "shifts by 4 bytes unless the start requires it",
        "bytes & 4 != 0",
        "bytes & 4 == 0",
    ),
    mutant(
        "shift_by_4_of_no_words",
        "does not move the words by one",
        "|w < NOT_LAST| words[w] = words[w + 1]",
        "|w < NOT_LAST| words[w] = words[w]",
    ),
    mutant(
        "halves_not_shifted",
        "shifts bytes of a word only for elements of one byte",
        "if align_of::<T>() < size_of::<u32>() {",
        "if align_of::<T>() < size_of::<u16>() {",
    )
    .on(HALVES),
    mutant(
        "shift_by_a_byte_at_most",
        "shifts by an even number of bytes as by none",
        "8 * (bytes as u32 % 4)",
        "8 * (bytes as u32 % 2)",
    )
    .on(BYTES),
    mutant(
        "bytes_for_bits",
        "shifts by as many bits as there are bytes",
        "let bits = 8 * (bytes as u32 % 4);",
        "let bits = bytes as u32 % 4;",
    )
    .on(BYTES),
    mutant(
        "funnel_exchanged",
        "the upper word comes before the lower one",
        "funnel_shift_right(words[w], words[w + 1], bits)",
        "funnel_shift_right(words[w + 1], words[w], bits)",
    )
    .on(BYTES),
    mutant(
        "rotated",
        "a word's upper bytes are its own lower ones, not those of the next word",
        "funnel_shift_right(words[w], words[w + 1], bits)",
        "funnel_shift_right(words[w], words[w], bits)",
    )
    .on(BYTES),
    mutant(
        "granule_of_the_first",
        "loads the first granule for all of them",
        ".wrapping_byte_add(g * Self::GRANULE)",
        ".wrapping_byte_add(0 * g * Self::GRANULE)",
    ),
    mutant(
        "granule_behind",
        "starts with the second granule",
        ".wrapping_byte_add(g * Self::GRANULE)",
        ".wrapping_byte_add((g + 1) * Self::GRANULE)",
    ),
    mutant(
        "granules_of_the_first_vector",
        "loads the granules of the first vector for all of them",
        "            .wrapping_add(first)
            .wrapping_byte_add",
        "            .wrapping_add(0 * first)
            .wrapping_byte_add",
    ),
    mutant(
        "narrow_granules_exchanged",
        "swaps the words of a granule of 8 bytes",
        "[low, high, 0, 0]",
        "[high, low, 0, 0]",
    )
    .on(VOLUME),
    mutant(
        "narrow_granule_of_the_first",
        "does not count granules of 4 bytes",
        ".wrapping_byte_add(g * Self::GRANULE)",
        ".wrapping_byte_add(g * (Self::GRANULE & !4))",
    )
    .on(PAIR),
    mutant(
        "granules_before_the_array",
        "treats a granule that begins before the array as inside",
        "self.start.addr() <= start && start + bytes",
        "start + bytes",
    ),
    mutant(
        "granules_past_the_array",
        "treats a granule that begins behind the array as inside",
        "self.start.addr() <= start && start + bytes <= self.end()",
        "self.start.addr() <= start && start <= self.end()",
    ),
    mutant(
        "granule_behind_not_counted",
        "does not check whether the last granule of a vector is inside",
        "Layout::<T, N>::GRANULES * Layout::<T, N>::GRANULE,",
        "Layout::<T, N>::LOADS * Layout::<T, N>::GRANULE,",
    ),
    mutant(
        "granules_by_elements",
        "takes the vector's address for that of its first granule",
        "self.start.wrapping_add(first).addr() & !(granule - 1)",
        "self.start.wrapping_add(first).addr()",
    ),
];
