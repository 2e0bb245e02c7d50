//! Why the hardware does not do what the source says: facts read from the SASS of sm_90.

/// The reason why a quantity of an entry differs, where one is known. `table` and `quantity` are
/// named as in the comparison.
pub fn of(entry: &str, table: &str, quantity: &str) -> Option<&'static str> {
    let known = REASONS.iter().find(|reason| {
        reason
            .kernels
            .iter()
            .any(|kernel| entry.starts_with(kernel))
            && reason.what.contains(&(table, quantity))
    });
    known.map(|reason| reason.text)
}

/// Every reason, in its words.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|reason| reason.text)
}

struct Reason {
    /// What the entry's name begins with.
    kernels: &'static [&'static str],
    /// Table and quantity.
    what: &'static [(&'static str, &'static str)],
    text: &'static str,
}

const REASONS: &[Reason] = &[
    Reason {
        kernels: &["reduce_0_sum_f64", "reduce_0_modulo_sum_f64"],
        what: &[
            ("Shared memory", "load conflicts"),
            ("Shared memory", "store conflicts"),
        ],
        text: "`reduce_0` of `f64`: the wavefronts agree, the ideal does not. 8-byte elements are \
               asked for by half warps, so that a half with one lane left costs a wavefront; for \
               the simulator that is the least there can be. Nsight Compute's ideal packs the \
               lanes that are left, 16 to a wavefront, whatever half they are in, and calls the \
               rest conflicts.",
    },
    Reason {
        kernels: &["reduce_4", "reduce_5"],
        what: &[
            ("Shared memory", "load requests"),
            ("Shared memory", "load lanes"),
            ("Shared memory", "load wavefronts"),
        ],
        text: "`reduce_4` and `reduce_5`: every thread reads its element of `scratch` after the \
               tree, and only the first warp uses what it read. The compiler moves the read behind \
               `if tid < WARP_SIZE` (`@P2 EXIT` stands before the last `LDS`), so that one warp \
               reads.",
    },
    Reason {
        kernels: &["reduce_naive_sum_i32", "reduce_shared_memory_sum_i32"],
        what: &[
            ("Shared memory", "atomic lanes"),
            ("Global memory", "atomic lanes"),
            ("Collectives", "votes"),
            ("Collectives", "redux"),
        ],
        text: "`reduce_naive` and `reduce_shared_memory`, sums of integers: where all lanes of a \
               warp add to one address, ptxas lets `REDUX.SUM` combine their values first and one \
               lane, elected through `VOTEU.ANY`, issue the atomic (`REDG`, `ATOMS`).",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_holds_for_its_kernels_and_quantities_alone() {
        let lanes = |entry| of(entry, "Shared memory", "load lanes");
        assert!(lanes("reduce_4_redux_sum_i32").is_some());
        assert!(lanes("reduce_5_x8_sum_i32").is_some());
        assert!(lanes("reduce_3_sum_i32").is_none());
        assert!(of("reduce_4_sum_i32", "Shared memory", "store lanes").is_none());
        assert!(of("reduce_4_sum_i32", "Global memory", "load lanes").is_none());
        assert!(of("reduce_naive_sum_i32", "Collectives", "redux").is_some());
        assert!(of("reduce_naive_sum_f32", "Collectives", "redux").is_none());
    }
}
