//! How elements are assigned to blocks.

use kernels_sim::case::shares::Shares;

fn shares(n: usize, blocks: usize, width: usize) -> Vec<Vec<usize>> {
    shares_behind(0, n, blocks, width)
}

fn shares_behind(head: usize, n: usize, blocks: usize, width: usize) -> Vec<Vec<usize>> {
    let shares = Shares {
        n,
        threads: 2,
        blocks,
        width,
        head,
    };
    shares.split(&(0..n).collect::<Vec<_>>())
}

#[test]
fn blocks_take_turns() {
    assert_eq!(shares(3, 2, 1), [vec![0, 1], vec![2]]);
    assert_eq!(shares(9, 2, 1), [vec![0, 1, 4, 5, 8], vec![2, 3, 6, 7]]);
    assert_eq!(shares(0, 1, 1), [vec![]]);
    // Two loads of three elements each, three elements in the next turn, and one after that.
    assert_eq!(shares(10, 1, 3), [(0..10).collect::<Vec<_>>()]);
    assert_eq!(
        shares(11, 2, 3),
        [vec![0, 1, 2, 3, 4, 5, 9, 10], vec![6, 7, 8]]
    );
    // One element before three loads of two elements each, and one after them.
    assert_eq!(
        shares_behind(1, 8, 2, 2),
        [vec![1, 2, 3, 4, 0, 7], vec![5, 6]]
    );
}
