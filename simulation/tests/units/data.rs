//! Random data.

use kernels_sim::Data;

#[test]
fn a_seed_repeats_the_elements() {
    for data in Data::ALL {
        let draw = |n, seed| data.draw::<i32>(n, seed);
        assert_eq!(draw(0, 1), []);
        assert_eq!(draw(100, 1), draw(100, 1));
        assert!(
            data == Data::Greatest || draw(100, 1) != draw(100, 2),
            "{data:?}"
        );
    }
}

#[test]
fn one_is_odd() {
    let odd = Data::OneOdd.draw::<f32>(1000, 7);
    assert_eq!(odd.iter().filter(|value| value.is_nan()).count(), 1);
    let zeroes = Data::Zeroes.draw::<f64>(1000, 7);
    assert!(zeroes.iter().all(|zero| *zero == 0.0));
    assert!(zeroes.iter().any(|zero| zero.is_sign_negative()));
    assert!(zeroes.iter().any(|zero| zero.is_sign_positive()));
}
