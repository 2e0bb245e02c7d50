//! The family `triple`: sums of triples, such as `triple_interleaved_sum_i32`. The parameters are those of the
//! [ladder](super::ladder). The input holds triple after triple, and the output three cells.

/// The family `triple`; see [`kernels!`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! family_triple {
    ($($given:tt)*) => { $crate::reductions! { Triple $($given)* {
        |op, input, output, scratch|
        triple_interleaved [Needs::any_grid(Scratch::None, Load::Element).into_cell()] =
            triple::triple_interleaved::<T, O>(op, input, output);
        triple_in_turn [Needs::any_grid(Scratch::None, Load::Element).into_cell()] =
            triple::triple_in_turn::<T, O>(op, input, output);
    } } };
}
