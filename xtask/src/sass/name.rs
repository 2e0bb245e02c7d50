//! Names of entries: `<kernel>_<operator>_<items>`, then `_by_<key>` if there are keys; copies have no
//! operator.

use crate::laws::kernels::KERNELS;

/// The kernel of an entry: `stable_vec4` for `stable_vec4_sum_f32`; the entry itself if it is unknown.
pub fn kernel_of(entry: &str) -> &str {
    let names = KERNELS.iter().flat_map(|kernel| kernel.names);
    let is_of = |name: &&&str| {
        entry
            .strip_prefix(**name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    // `reduce_0_modulo`, not `reduce_0`.
    let longest = names.filter(is_of).max_by_key(|name| name.len());
    longest.map_or(entry, |name| &entry[..name.len()])
}

/// Whether `name` is the name of the entry or of its kernel.
pub fn is_of(entry: &str, name: &str) -> bool {
    entry == name || kernel_of(entry) == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_read_from_an_entrys_name() {
        for (entry, kernel) in [
            ("reduce_2_sum_i32", "reduce_2"),
            ("reduce_0_modulo_max_f32", "reduce_0_modulo"),
            ("segments_max_f32", "segments"),
            ("segments_combine_max_f32", "segments_combine"),
            ("segments_by_part_max_f32", "segments_by_part"),
            ("segments_partition", "segments_partition"),
            ("find_runs_u32", "find_runs"),
            ("axes_max_f32", "axes"),
            ("axes_combine_max_f32", "axes_combine"),
            ("stable_vec4_sum_f32", "stable_vec4"),
            ("stable_sum_f64", "stable"),
            ("warp_atomic_sum_u64", "warp_atomic"),
            ("keyed_match_x2_sum_f64_by_u32", "keyed_match_x2"),
            ("copy_vec4_b32", "copy_vec4"),
            ("triple_in_turn_sum_i32", "triple_in_turn"),
            ("single_pass_min_max_f32", "single_pass"),
            ("single_pass_count_less_i8_i8", "single_pass"),
            ("single_pass_dot_f32_f32", "single_pass"),
            ("single_pass_arg_max_indexed_f64", "single_pass"),
            ("single_pass_squares_about_complex", "single_pass"),
            ("main", "main"),
        ] {
            assert_eq!(kernel_of(entry), kernel, "{entry}");
        }
    }

    #[test]
    fn a_name_selects_an_entry_or_a_kernel() {
        let selected = |name: &str| -> Vec<_> {
            let names = [
                "reduce_4_sum_i32",
                "reduce_4_min_f32",
                "reduce_4_redux_sum_i32",
            ];
            names
                .into_iter()
                .filter(|entry| is_of(entry, name))
                .collect()
        };
        assert_eq!(selected("reduce_4_min_f32"), ["reduce_4_min_f32"]);
        assert_eq!(
            selected("reduce_4"),
            ["reduce_4_sum_i32", "reduce_4_min_f32"]
        );
        assert!(selected("reduce_9").is_empty());
    }
}
