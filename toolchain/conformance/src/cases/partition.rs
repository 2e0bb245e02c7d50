//! Partitions of a warp's lanes into arms and member masks.

use conformance_kernels::arm;
use rand::{RngExt, rngs::StdRng};

/// The arm and the mask of each lane of a warp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Its name in messages.
    pub name: String,
    /// The arm of each lane.
    pub arms: [u64; 32],
    /// The member mask of each lane.
    pub masks: [u32; 32],
}

impl Partition {
    /// `group` returns the arm of each lane and a number; the lanes of an arm with the same number form a
    /// mask.
    fn new(name: impl Into<String>, group: impl Fn(u32) -> (u64, u32)) -> Self {
        let groups: [(u64, u32); 32] = std::array::from_fn(|lane| group(lane as u32));
        let mask = |own| {
            (0..32).fold(0, |bits, lane| {
                bits | u32::from(groups[lane] == own) << lane
            })
        };
        Self {
            name: name.into(),
            arms: groups.map(|(arm, _)| arm),
            masks: groups.map(mask),
        }
    }

    /// The whole warp, halves, odd and even, quarters, pairs, single lanes, and random groups with idle
    /// lanes.
    pub fn all(rng: &mut StdRng) -> Vec<Self> {
        use arm::{FIRST, IDLE, SECOND};
        let lone = rng.random_range(0..32);
        let mut all = vec![
            Self::new("whole warp", |_| (FIRST, 0)),
            Self::new("halves apart", |lane| {
                (if lane < 16 { FIRST } else { SECOND }, 0)
            }),
            Self::new("upper half, lower idle", |lane| {
                (if lane < 16 { IDLE } else { FIRST }, 0)
            }),
            Self::new("odd and even apart", |lane| {
                (if lane % 2 == 1 { FIRST } else { SECOND }, 0)
            }),
            Self::new("odd, even idle", |lane| {
                (if lane % 2 == 1 { SECOND } else { IDLE }, 0)
            }),
            Self::new("quarters at one place", |lane| (FIRST, lane / 8)),
            Self::new("pairs at one place", |lane| (FIRST, lane / 2)),
            Self::new(format!("lane {lone}, others apart"), move |lane| {
                (if lane == lone { FIRST } else { SECOND }, 0)
            }),
            Self::new(format!("lane {lone}, others idle"), move |lane| {
                (if lane == lone { FIRST } else { IDLE }, 0)
            }),
            Self::new("every lane alone", |lane| {
                (if lane < 20 { FIRST } else { SECOND }, lane)
            }),
        ];
        for _ in 0..6 {
            let dealt: [u64; 32] = std::array::from_fn(|_| rng.random_range(FIRST..=IDLE));
            all.push(Self::new("random arms", |lane| (dealt[lane as usize], 0)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn masks_are_the_lanes_of_an_arm() {
        for partition in Partition::all(&mut StdRng::seed_from_u64(3)) {
            for lane in 0..32 {
                let mask = partition.masks[lane];
                assert!(mask >> lane & 1 == 1, "{partition:?}");
                for other in (0..32).filter(|other| mask >> other & 1 == 1) {
                    assert_eq!(partition.arms[other], partition.arms[lane], "{partition:?}");
                    assert_eq!(partition.masks[other], mask, "{partition:?}");
                }
            }
        }
    }

    #[test]
    fn odd_and_even() {
        let all = Partition::all(&mut StdRng::seed_from_u64(3));
        let odd = all.iter().find(|p| p.name == "odd, even idle").unwrap();
        assert_eq!(odd.masks[1], 0xAAAA_AAAA);
        assert_eq!(odd.arms[0], arm::IDLE);
    }
}
