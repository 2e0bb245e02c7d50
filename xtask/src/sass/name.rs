//! What the name of an entry says: `<kernel>_<operator>_<element>`, reductions by key with
//! `_by_<key>` behind, copies without an operator.

/// The operators, those of several words first.
const OPERATORS: [&str; 21] = [
    "count_is_nan",
    "count_equal",
    "count_less",
    "count_greater",
    "mean_variance",
    "sum_squares",
    "sum_wide",
    "sum_abs",
    "nan_min",
    "nan_max",
    "min_max",
    "arg_min",
    "arg_max",
    "sum",
    "product",
    "min",
    "max",
    "and",
    "or",
    "xor",
    "dot",
];

/// The kernel that an entry is of: `stable_vec4` of `stable_vec4_arg_min_f32`.
pub fn kernel_of(entry: &str) -> &str {
    let values = entry.split_once("_by_").map_or(entry, |(values, _)| values);
    let Some((rest, _element)) = values.rsplit_once('_') else {
        return entry;
    };
    let rest = rest.strip_suffix("_indexed").unwrap_or(rest);
    let without = |operator: &str| rest.strip_suffix(operator)?.strip_suffix('_');
    OPERATORS.into_iter().find_map(without).unwrap_or(rest)
}

/// Whether an entry is the one called `name`, or of the kernel called `name`.
pub fn is_of(entry: &str, name: &str) -> bool {
    entry == name || kernel_of(entry) == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_elements_and_keys_are_no_part_of_a_kernel() {
        for (entry, kernel) in [
            ("reduce_2_sum_i32", "reduce_2"),
            ("reduce_0_modulo_max_f32", "reduce_0_modulo"),
            ("stable_vec4_arg_min_f32", "stable_vec4"),
            ("stable_arg_max_indexed_f64", "stable"),
            ("warp_atomic_sum_wide_bf16", "warp_atomic"),
            ("keyed_match_x2_sum_f64_by_u32", "keyed_match_x2"),
            ("copy_vec4_b32", "copy_vec4"),
            ("triple_in_turn_sum_i32", "triple_in_turn"),
            ("single_pass_min_max_f32", "single_pass"),
            ("single_pass_count_less_i8", "single_pass"),
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
                "reduce_4_nan_min_f32",
                "reduce_4_redux_sum_i32",
            ];
            names
                .into_iter()
                .filter(|entry| is_of(entry, name))
                .collect()
        };
        assert_eq!(selected("reduce_4_nan_min_f32"), ["reduce_4_nan_min_f32"]);
        assert_eq!(
            selected("reduce_4"),
            ["reduce_4_sum_i32", "reduce_4_nan_min_f32"]
        );
        assert!(selected("reduce_9").is_empty());
    }
}
