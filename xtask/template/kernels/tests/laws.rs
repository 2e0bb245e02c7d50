//! Tests that the operator obeys the laws that a parallel reduction requires: an identity, and the same result
//! for any grouping of the elements.

use kernels_gpu::laws::{self, Strategy};
use my_project_kernels::{Reading, TimeAbove};

#[test]
fn time_above() {
    let readings = (-40.0f32..60.0, 0.0f32..3600.0);
    let readings = readings.prop_map(|(celsius, seconds)| Reading { celsius, seconds });
    // Float sums differ by rounding.
    laws::of(&TimeAbove { limit: 25.0 }, readings)
        .tolerance(1e-12)
        .check();
}
