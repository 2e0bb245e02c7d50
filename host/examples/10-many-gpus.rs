//! One array on all GPUs that a launcher gives; without a launcher, on one device.
//!
//! ```sh
//! cargo build --release --example 10-many-gpus
//! cd target/release/examples
//! torchrun --nproc-per-node 2 --no-python ./10-many-gpus
//! srun --ntasks 2 --gpus-per-task 1 ./10-many-gpus
//! MASTER_ADDR=localhost MASTER_PORT=29500 mpirun -n 2 ./10-many-gpus
//! ```

use warpfold::many::Distributed;
use warpfold::{Determinism, Device, Error};

/// The length of the whole array.
const N: u64 = 10_000_000;

/// Element `i` of the whole array.
fn element(i: u64) -> f32 {
    let noise = (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32;
    noise / (1 << 23) as f32 - 1.0
}

fn main() -> Result<(), Error> {
    let all = Distributed::from_env()?;
    if let Some(reason) = all.device().fallback_reason() {
        println!("no GPU: {reason}");
    }

    // Each rank makes its part, and no other.
    let share = all.share(N);
    let x: Vec<f32> = share.clone().map(element).collect();
    let x = all.device().upload(&x)?;

    // All ranks make the same calls, and all have the results.
    let sum = all.sum(&x)?;
    let exact = all.determinism(Determinism::Exact).sum(&x)?;
    let least = all.argmin(&x)?;
    let moments = all.mean_variance(&x)?.expect("there are elements");

    if all.rank() == 0 {
        println!(
            "{} rank(s), the first on {} with {share:?}",
            all.size(),
            all.device()
        );
        println!("sum {sum}, rounded once {exact}, smallest at {least:?}");
        println!("mean {}, variance {}", moments.mean(), moments.variance());

        // The same bits on one device, for any number of ranks.
        let one = Device::cpu();
        let whole: Vec<f32> = (0..N).map(element).collect();
        let whole = one.upload(&whole)?;
        assert_eq!(sum.to_bits(), one.sum(&whole)?.to_bits());
        assert_eq!(least, one.argmin(&whole)?.map(|index| index as u64));
        assert_eq!(Some(moments), one.mean_variance(&whole)?);
    }
    Ok(())
}
