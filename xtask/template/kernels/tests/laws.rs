//! Tests the laws that a parallel reduction requires: the operator has an identity, and any grouping of the
//! elements gives the same result.

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
