//! Why the hardware's counts differ from the source's: facts read from the SASS of sm_90.

/// The known reason why a quantity of an entry differs. `table` and `quantity` are the comparison's names.
pub fn of(entry: &str, table: &str, quantity: &str) -> Option<&'static str> {
    let known = REASONS.iter().find(|reason| {
        reason
            .kernels
            .iter()
            .any(|kernel| entry.starts_with(kernel))
            && reason.quantities.contains(&(table, quantity))
    });
    known.map(|reason| reason.text)
}

/// The texts of all reasons.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|reason| reason.text)
}

struct Reason {
    /// Beginnings of the entries' names.
    kernels: &'static [&'static str],
    /// Tables and quantities.
    quantities: &'static [(&'static str, &'static str)],
    text: &'static str,
}

const REASONS: &[Reason] = &[
    Reason {
        kernels: &["reduce_0_sum_f64", "reduce_0_modulo_sum_f64"],
        quantities: &[
            ("Shared memory", "load conflicts"),
            ("Shared memory", "store conflicts"),
        ],
        text: "`reduce_0` of `f64`: the wavefronts agree, the ideal wavefronts do not. Shared memory serves \
               8-byte elements by half warps, so that a half warp with one active lane costs a wavefront. \
               The simulator counts this wavefront as ideal. Nsight Compute's ideal packs the active lanes \
               of both halves, 16 to a wavefront, and counts the other wavefronts as conflicts.",
    },
    Reason {
        kernels: &["reduce_4", "reduce_5"],
        quantities: &[
            ("Shared memory", "load requests"),
            ("Shared memory", "load lanes"),
            ("Shared memory", "load wavefronts"),
        ],
        text: "`reduce_4` and `reduce_5`: in the source every thread loads its element of `scratch` after \
               the tree, and only the first warp uses it. The compiler moves the load behind \
               `if tid < WARP_SIZE` (`@P2 EXIT` precedes the last `LDS`), so that only one warp loads.",
    },
    Reason {
        kernels: &["reduce_naive_sum_i32", "reduce_shared_memory_sum_i32"],
        quantities: &[
            ("Shared memory", "atomic lanes"),
            ("Global memory", "atomic lanes"),
            ("Collectives", "votes"),
            ("Collectives", "redux"),
        ],
        text: "`reduce_naive` and `reduce_shared_memory`, sums of integers: if all lanes of a warp add to \
               one address, ptxas combines their values with `REDUX.SUM` first. Then one lane, elected \
               with `VOTEU.ANY`, issues the atomic (`REDG`, `ATOMS`).",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_holds_only_for_its_kernels_and_quantities() {
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
