//! The clock of CPU time.

use std::hint::black_box;
use std::thread::sleep;
use std::time::Duration;

use kernels_sim::clock::cpu_time;

#[test]
fn work_takes_time_and_sleep_does_not() {
    let before = cpu_time();
    sleep(Duration::from_millis(200));
    let asleep = cpu_time() - before;
    assert!(
        !cfg!(unix) || asleep < Duration::from_millis(100),
        "{asleep:?}"
    );

    let before = cpu_time();
    let mut rounds = 0_u64;
    while cpu_time() - before < Duration::from_millis(5) {
        rounds = black_box(rounds + 1);
    }
    assert!(rounds > 1000, "{rounds}");
}
