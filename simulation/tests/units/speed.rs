//! The table of the simulator's speed.

use kernels_sim::ladder::Style;
use kernels_sim::speed::Speed;

#[test]
fn every_kernel_has_a_speed_in_every_mode() {
    let text = Speed::measure(10_000, 1).unwrap().write(Style::Markdown);
    let rows = text.lines().filter(|line| line.starts_with("| reduce_"));
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 2 + 3 + 4, "{row}");
        for speed in &cells[4..8] {
            assert!(speed.parse::<f64>().unwrap() > 0.0, "{row}");
        }
        count += 1;
    }
    assert_eq!(count, 5 * 3, "{text}");
}
