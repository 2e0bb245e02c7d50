use super::*;
use crate::{Kind, Simulator, device};

/// Loads of 32 lanes from shared memory: element `stride * lane`, of `size` bytes.
fn request(space: Space, stride: u64, size: u32) -> Request {
    Request {
        site: Site::of(std::panic::Location::caller()),
        what: InstructionKind::Load(space),
        size,
        active: u32::MAX,
        addresses: std::array::from_fn(|lane| lane as u64 * stride * u64::from(size)),
    }
}

#[test]
fn a_row_of_text_is_a_wavefront_or_a_sector() {
    let bank_conflict = request(Space::Shared, 2, 4).to_string();
    assert_eq!(bank_conflict.lines().count(), 4, "{bank_conflict}");
    assert!(
        bank_conflict.starts_with("load shared, 4 bytes, 32 lanes: 2 wavefronts; 1 is possible\n")
    );
    let second = bank_conflict.lines().nth(3).unwrap();
    assert!(
        second.starts_with("  wavefront 2   16  . 17  . 18"),
        "{second}"
    );

    let coalesced = request(Space::Global, 1, 4).to_string();
    assert!(
        coalesced.starts_with("load global, 4 bytes, 32 lanes: 4 sectors\n"),
        "{coalesced}"
    );
    assert!(
        coalesced.contains("  sector 4       24  25  26  27  28  29  30  31\n"),
        "{coalesced}"
    );
    let scattered = request(Space::Global, 8, 4).to_string();
    assert!(
        scattered.ends_with("  and 16 more sectors\n"),
        "{scattered}"
    );
}

#[test]
fn the_rows_are_the_counted_wavefronts() {
    for size in [1, 2, 4, 8, 16] {
        for stride in [0, 1, 2, 3, 8, 32, 33] {
            let request = request(Space::Shared, stride, size);
            let rows = request.to_svg().matches(">wavefront ").count();
            // `<title>` and the heading name wavefronts too, but not as a label.
            assert_eq!(
                rows,
                request.cost() as usize,
                "{size} bytes, stride {stride}"
            );
        }
    }
}

#[test]
fn lanes_at_one_word_share_its_cell() {
    let one = request(Space::Shared, 0, 4);
    assert_eq!(one.cost(), 1);
    assert!(one.to_string().contains("  wavefront 1   0+  ."), "{one}");
}

#[test]
fn a_shuffle_is_drawn_by_its_source_lanes() {
    let down = || {
        device::shuffle("shuffle", device::Shuffle::Down, u32::MAX, 7, 16, 31);
    };
    let report = Simulator::new().block(32).record(9).run(down).unwrap();
    let [shuffle] = report.requests.as_slice() else {
        panic!("{:?}", report.requests);
    };
    assert_eq!(
        (shuffle.what, shuffle.cost(), shuffle.least_cost()),
        (InstructionKind::Shuffle, 0, 0)
    );
    assert_eq!((shuffle.addresses[3], shuffle.addresses[20]), (19, 20));
    let text = shuffle.to_string();
    assert!(
        text.starts_with("shuffle, 32 lanes: 16 read another lane\n"),
        "{text}"
    );
    assert!(text.contains("\n  reads 16 17 18"), "{text}");
    assert_eq!(shuffle.to_svg().matches("<path ").count(), 16);
}

#[test]
fn a_launch_keeps_its_first_requests() {
    let x = crate::Buffer::from(&[1_i32; 96]);
    let load = || {
        let lane = device::lane_id("lane") as usize;
        device::global(x.as_ptr().addr(), 96, 3 * lane, 4, 4, Kind::Load);
    };
    let simulator = Simulator::new().block(64).record(1);
    let report = simulator.run(load).unwrap();
    assert_eq!(report.requests.len(), 1);
    let first = &report.requests[0];
    assert_eq!(
        (first.cost(), first.least_cost(), first.active),
        (12, 4, u32::MAX)
    );
    assert_eq!(report.counters.unwrap().global().sectors, 24);
    assert!(simulator.record(9).run(load).unwrap().requests.len() == 2);
    assert!(
        Simulator::new()
            .block(64)
            .count()
            .run(load)
            .unwrap()
            .requests
            .is_empty()
    );
}
