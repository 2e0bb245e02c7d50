//! The keys of random data.

use kernels_gpu::keyed::Key;
use kernels_sim::keyed::Keys;

#[test]
fn a_third_has_no_cell_and_only_of_one_kind() {
    for keys in Keys::ALL {
        let (drawn, cells) = keys.draw::<u64>(3000, 1);
        let outside = drawn.iter().filter(|key| key.cell() >= cells).count();
        assert_eq!(
            (500..1500).contains(&outside),
            keys == Keys::Outside,
            "{keys:?}"
        );
        assert!(keys == Keys::Outside || outside == 0, "{keys:?}");
    }
}

#[test]
fn distinct_keys_are() {
    let (mut keys, cells) = Keys::Distinct.draw::<u32>(100, 1);
    keys.sort_unstable();
    assert_eq!((keys, cells), ((0..100).collect(), 100));
}
