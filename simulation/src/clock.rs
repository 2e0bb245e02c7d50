//! The CPU time of this thread, which does not depend on other jobs of the machine.

use std::time::Duration;

/// The CPU time of this thread; the program's run time if the system does not provide it.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes only to `time`.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "every thread has a clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The CPU time of this thread; the program's run time if the system does not provide it.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread::sleep;

    use super::*;

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
}
