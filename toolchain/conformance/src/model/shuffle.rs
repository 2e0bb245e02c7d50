//! `shfl.sync`: the source lane of each lane, and its predicate.

/// The four modes, by which a lane selects its source lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `shfl.sync.up`: the lane `b` below.
    Up,
    /// `shfl.sync.down`: the lane `b` above.
    Down,
    /// `shfl.sync.bfly`: the lane index xor `b`.
    Xor,
    /// `shfl.sync.idx`: lane `b` of the segment.
    Idx,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Xor, Self::Idx];

    /// The name in kernels and trials.
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Xor => "xor",
            Self::Idx => "idx",
        }
    }
}

/// The source of a lane's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The lane whose value is read; the lane itself if out of range.
    pub lane: u32,
    /// The instruction's predicate.
    pub in_range: bool,
}

/// The source of `lane` for operand `b` in segments of `width` lanes.
///
/// `width` is one of 1, 2, 4, 8, 16 and 32. As in the instruction, only the low five bits of `b` are used.
pub fn source(mode: Mode, lane: u32, b: u32, width: u32) -> Source {
    let b_value = (b & 31) as i32;
    let segment_mask = 32 - width;
    let clamp = if mode == Mode::Up { 0 } else { 31 };
    let max_lane = ((lane & segment_mask) | (clamp & !segment_mask)) as i32;
    let min_lane = (lane & segment_mask) as i32;
    let lane = lane as i32;

    let (candidate, in_range) = match mode {
        Mode::Up => (lane - b_value, lane - b_value >= max_lane),
        Mode::Down => (lane + b_value, lane + b_value <= max_lane),
        Mode::Xor => (lane ^ b_value, lane ^ b_value <= max_lane),
        Mode::Idx => {
            let j = min_lane | (b_value & !(segment_mask as i32));
            (j, j <= max_lane)
        }
    };
    Source {
        lane: if in_range { candidate } else { lane } as u32,
        in_range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lane: u32) -> Source {
        Source {
            lane,
            in_range: true,
        }
    }

    fn own(lane: u32) -> Source {
        Source {
            lane,
            in_range: false,
        }
    }

    #[test]
    fn whole_warp() {
        assert_eq!(source(Mode::Down, 0, 1, 32), read(1));
        assert_eq!(source(Mode::Down, 30, 1, 32), read(31));
        assert_eq!(source(Mode::Down, 31, 1, 32), own(31));
        assert_eq!(source(Mode::Up, 0, 1, 32), own(0));
        assert_eq!(source(Mode::Up, 5, 5, 32), read(0));
        assert_eq!(source(Mode::Xor, 5, 3, 32), read(6));
        assert_eq!(source(Mode::Xor, 31, 31, 32), read(0));
        assert_eq!(source(Mode::Idx, 7, 19, 32), read(19));
    }

    #[test]
    fn shifts_stay_in_their_segment() {
        // Segments of eight: lanes 8..16 form one.
        assert_eq!(source(Mode::Down, 14, 1, 8), read(15));
        assert_eq!(source(Mode::Down, 14, 2, 8), own(14));
        assert_eq!(source(Mode::Up, 9, 1, 8), read(8));
        assert_eq!(source(Mode::Up, 9, 2, 8), own(9));
    }

    #[test]
    fn an_index_wraps_at_the_width() {
        assert_eq!(source(Mode::Idx, 13, 2, 8), read(10));
        assert_eq!(source(Mode::Idx, 13, 10, 8), read(10));
        assert_eq!(source(Mode::Idx, 13, 31, 1), read(13));
    }

    #[test]
    fn xor_reaches_earlier_segments_only() {
        assert_eq!(source(Mode::Xor, 9, 8, 8), read(1));
        assert_eq!(source(Mode::Xor, 1, 8, 8), own(1));
    }

    #[test]
    fn five_bits_of_the_operand() {
        assert_eq!(source(Mode::Down, 3, 32, 32), read(3));
        assert_eq!(source(Mode::Down, 3, 33, 32), read(4));
    }

    #[test]
    fn width_one_is_the_lane_itself() {
        for lane in 0..32 {
            assert_eq!(source(Mode::Down, lane, 0, 1), read(lane));
            assert_eq!(source(Mode::Down, lane, 1, 1), own(lane));
            assert_eq!(source(Mode::Up, lane, 1, 1), own(lane));
        }
    }
}
