//! Keys own bins.

use super::super::super::{Source, mutant};
use super::COMBINE;

/// Values of 64 bits lie over the counters of other bins.
const WIDE_VALUES: &[&str] = &["group_combine_sum_f64_by_u32"];

pub const SOURCE: Source = Source {
    path: "groups/insert/bins.rs",
    kernels: COMBINE,
    mutants: &[
        mutant(
            "owners_not_cleared",
            "a bin is owned by what shared memory happens to hold",
            "Self::of_thread(self.len + FREQUENT, |bin| self.owners.set(bin, K::EMPTY));",
            "",
        ),
        mutant(
            "copies_not_cleared",
            "a frequent bin starts with what shared memory happens to hold",
            "Self::of_thread(copies, |copy| sink.clear(self.len + copy));",
            "let _ = copies;",
        ),
        mutant(
            "counters_not_cleared",
            "the counters of the sample start with what shared memory happens to hold",
            "Self::of_thread(self.len, |bin| self.counts().set(bin, 0));",
            "",
        ),
        mutant(
            "sample_behind_the_last",
            "a lane samples a key behind the last one",
            "if index < keys.len() {",
            "if index <= keys.len() {",
        ),
        mutant(
            "no_barrier_behind_the_sample",
            "a thread reads a counter before all keys are counted",
            "        // All keys of the sample are counted.
        sync_threads();
",
            "",
        ),
        mutant(
            "counter_of_a_cleared_value",
            "a value is cleared before its counter has been read",
            "        // All counters have been read.
        sync_threads();
",
            "",
        )
        .on(WIDE_VALUES),
        mutant(
            "no_barrier_behind_the_values",
            "a value is combined before the bin is empty",
            "        // The values are those of empty bins.
        sync_threads();
",
            "",
        ),
        mutant(
            "frequent_without_a_slot",
            "a frequent key owns a bin although it has no slot",
            "                if slot != NONE {
                    self.own",
            "                if slot != self.len {
                    self.own",
        ),
        mutant(
            "sample_owns_bins",
            "keys of the sample own bins although they have no slots",
            "            self.owners.set(bin, K::EMPTY);
",
            "",
        ),
        mutant(
            "values_of_the_sample",
            "a bin starts with the counter of the sample",
            "        Self::of_thread(self.len, |bin| sink.clear(bin));
",
            "",
        ),
        mutant(
            "neighbour_forgotten",
            "a value of the second bin of a pair is combined into the first",
            "let bin = self.pair(hash) + u32::from(is_other);",
            "let bin = self.pair(hash);",
        ),
        mutant(
            "frequent_neighbour_forgotten",
            "the same for frequent bins",
            "self.frequent_pair(hash) + u32::from(is_other) - self.len;",
            "self.frequent_pair(hash) - self.len;",
        ),
        mutant(
            "copies_of_two_bins",
            "adjacent frequent bins share their copies",
            "self.len + number * copies + thread_idx_x() % copies;",
            "self.len + number + thread_idx_x() % copies;",
        ),
        mutant(
            "bin_of_another_key",
            "a key is in the bin that another one owns",
            "            if before == K::EMPTY || before == key {
                return bin;",
            "            if before == K::EMPTY || before != key {
                return bin;",
        ),
        mutant(
            "frequent_bins_not_flushed",
            "the frequent bins are not combined into cells",
            "let all = self.len + FREQUENT;",
            "let all = self.len;",
        ),
        mutant(
            "first_bin_not_flushed",
            "the first of a thread's bins is not combined into its cell",
            "unrolled!(|i < TOGETHER| if own[i] != K::EMPTY {
                let slot",
            "unrolled!(|i < TOGETHER| if i > 0 && own[i] != K::EMPTY {
                let slot",
        ),
        mutant(
            "one_copy_flushed",
            "only one copy of a frequent bin is combined",
            "(self.len + (bin(i) - self.len) * copies, copies)",
            "(self.len + (bin(i) - self.len) * copies, 1)",
        ),
    ],
};
