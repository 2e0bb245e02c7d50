//! Which launches run by default.

use kernels_sim::share::Share;

#[test]
fn four_seeds_make_every_launch_once() {
    let shares = [4, 5, 6, 7].map(|seed| Share::Fourth { which: seed % 4 });
    for launch in 0..20 {
        assert_eq!(shares.iter().filter(|share| share.has(launch)).count(), 1);
        assert!(Share::All.has(launch));
    }
    // For the iterations of every inner loop of four.
    for inner in 0..4 {
        let made = (0..400).filter(|i| shares[0].has(4 * i + inner)).count();
        assert!((60..140).contains(&made), "{made} of 400");
    }
}
