//! The atomics on the host; the conformance suite tests those of the device.

use super::*;
use std::thread;

const ORDERS: [Ordering; 5] = [
    Ordering::Relaxed,
    Ordering::Acquire,
    Ordering::Release,
    Ordering::AcqRel,
    Ordering::SeqCst,
];

#[test]
fn every_method_gives_the_value_before_and_leaves_the_new_one() {
    for order in ORDERS {
        let x = AtomicI32::new(i32::MAX);
        assert_eq!(x.fetch_add(1, order), i32::MAX);
        assert_eq!(x.fetch_sub(1, order), i32::MIN);
        assert_eq!(x.fetch_min(-5, order), i32::MAX);
        assert_eq!(x.fetch_max(6, order), -5);
        assert_eq!(x.fetch_and(3, order), 6);
        assert_eq!(x.fetch_or(9, order), 2);
        assert_eq!(x.fetch_xor(1, order), 11);
        assert_eq!(x.swap(-1, order), 10);
        assert_eq!(x.into_inner(), -1);

        let x = SystemAtomicU64::new(0);
        assert_eq!(x.fetch_sub(1, order), 0);
        assert_eq!(x.fetch_min(7, order), u64::MAX);
        assert_eq!(x.fetch_max(1 << 40, order), 7);
        assert_eq!(x.into_inner(), 1 << 40);

        let x = AtomicF64::new(1.0);
        assert_eq!(x.fetch_add(0.5, order), 1.0);
        assert_eq!(x.fetch_sub(4.0, order), 1.5);
        assert_eq!(x.fetch_max(-3.0, order), -2.5);
        assert_eq!(x.fetch_min(-3.0, order), -2.5);
        assert_eq!(x.fetch_and(f64::from_bits(u64::MAX >> 1), order), -3.0);
        assert_eq!(x.swap(0.0, order), 3.0);
    }
}

#[test]
fn a_nan_loses_against_a_number() {
    let x = AtomicF32::new(f32::NAN);
    assert!(x.fetch_min(2.0, Ordering::Relaxed).is_nan());
    assert_eq!(x.fetch_max(f32::NAN, Ordering::AcqRel), 2.0);
    assert_eq!(x.load(Ordering::Relaxed), 2.0);
}

#[test]
fn compare_exchange_compares_bits() {
    let x = AtomicF32::new(0.0);
    let exchange =
        |current, new| x.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire);
    assert_eq!(exchange(-0.0, 1.0), Err(0.0));
    assert_eq!(exchange(0.0, f32::NAN), Ok(0.0));
    assert!(exchange(f32::NAN, 3.0).is_ok_and(f32::is_nan));
    assert_eq!(x.into_inner(), 3.0);
}

#[test]
fn a_union_of_orderings_has_the_halves_of_both_and_no_more() {
    use Ordering::*;
    let acquires = |order| matches!(order, Acquire | AcqRel | SeqCst);
    let releases = |order| matches!(order, Release | AcqRel | SeqCst);
    for a in ORDERS {
        for b in ORDERS {
            let both = union(a, b);
            assert_eq!(acquires(both), acquires(a) || acquires(b), "{a:?} {b:?}");
            assert_eq!(releases(both), releases(a) || releases(b), "{a:?} {b:?}");
            assert_eq!(both == SeqCst, a == SeqCst || b == SeqCst, "{a:?} {b:?}");
        }
    }
}

#[test]
fn no_update_is_lost() {
    const EACH: u32 = 20_000;
    let (sum, float, max) = (
        BlockAtomicU32::new(0),
        AtomicF32::new(0.0),
        AtomicF64::new(-1.0),
    );
    thread::scope(|scope| {
        for worker in 0..4 {
            let (sum, float, max) = (&sum, &float, &max);
            scope.spawn(move || {
                for i in 0..EACH {
                    // SAFETY: there are no blocks on the host.
                    unsafe { sum.fetch_add(1, Ordering::Relaxed) };
                    float.fetch_add(1.0, Ordering::Relaxed);
                    max.fetch_max((worker * EACH + i) as f64, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 4 * EACH);
    assert_eq!(float.into_inner(), (4 * EACH) as f32);
    assert_eq!(max.into_inner(), (4 * EACH - 1) as f64);
}

#[test]
fn orderings_that_an_access_cannot_have_panic() {
    let x = AtomicU32::new(0);
    for order in [Ordering::Release, Ordering::AcqRel] {
        let load = std::panic::AssertUnwindSafe(|| x.load(order));
        assert!(std::panic::catch_unwind(load).is_err());
    }
    for order in [Ordering::Acquire, Ordering::AcqRel] {
        let store = std::panic::AssertUnwindSafe(|| x.store(1, order));
        assert!(std::panic::catch_unwind(store).is_err());
    }
}
