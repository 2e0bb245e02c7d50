//! 16-bit floats, compared with the crate `half`: conversions of all bit patterns to `f32`, and of values
//! around all rounding boundaries from `f32`.

use half::{bf16, f16};
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};
use crate::element::Element;

const THREADS: usize = 256;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for element in [Element::F16, Element::Bf16] {
        let name = element.name();
        trials.push(Trial::new(format!("float16/widen/{name}"), move |rng| {
            vec![case(
                "widen",
                element,
                (0..=u64::from(u16::MAX)).collect(),
                rng,
            )]
        }));
        trials.push(Trial::new(format!("float16/narrow/{name}"), move |rng| {
            vec![case("narrow", element, boundaries(element, rng), rng)]
        }));
    }
    trials
}

/// The `f32` of the pattern.
fn widen(element: Element, bits: u64) -> f32 {
    match element {
        Element::F16 => f16::from_bits(bits as u16).to_f32(),
        _ => bf16::from_bits(bits as u16).to_f32(),
    }
}

/// The pattern nearest to the `f32`.
fn narrow(element: Element, value: f32) -> u64 {
    match element {
        Element::F16 => f16::from_f32(value).to_bits().into(),
        _ => bf16::from_f32(value).to_bits().into(),
    }
}

/// As `f32` patterns: all values of the type, the ties between neighbours, the values next to the ties, and
/// random ones.
fn boundaries(element: Element, rng: &mut StdRng) -> Vec<u64> {
    let mut bits = Vec::new();
    for pattern in 0..=u64::from(u16::MAX) {
        let value = widen(element, pattern);
        let next = widen(element, (pattern + 1) & 0xFFFF);
        let middle = (f64::from(value) + f64::from(next)) / 2.0;
        for near in [value, middle as f32] {
            let near = near.to_bits();
            bits.extend([near, near.wrapping_add(1), near.wrapping_sub(1)].map(u64::from));
        }
    }
    bits.extend((0..1 << 16).map(|_| u64::from(rng.random::<u32>())));
    bits
}

fn case(direction: &str, element: Element, input: Vec<u64>, rng: &mut StdRng) -> Case {
    let wide = direction == "widen";
    let words = input
        .iter()
        .map(|&bits| {
            let (target, result) = if wide {
                (Element::F32, widen(element, bits).to_bits().into())
            } else {
                (element, narrow(element, f32::from_bits(bits as u32)))
            };
            if target.is_nan(result) {
                Word::Nan(target)
            } else {
                Word::Is(result)
            }
        })
        .collect();
    let name = format!("float16_{direction}_{}", element.name());
    let patterns = input.clone();
    Case {
        name: format!("{} patterns", input.len()),
        launches: vec![Launch::new(
            name,
            (input.len() / THREADS) as u32,
            THREADS as u32,
        )],
        output: sentinels(rng, input.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::words(words, move |i| format!("pattern {:#x}", patterns[i])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn whole_blocks() {
        let mut rng = StdRng::seed_from_u64(1);
        for element in [Element::F16, Element::Bf16] {
            assert_eq!(boundaries(element, &mut rng).len() % THREADS, 0);
        }
    }

    #[test]
    fn ties_go_to_even() {
        // Between 1 and the next f16, and between that and the following one.
        assert_eq!(narrow(Element::F16, 1.0 + 1.0 / 2048.0), 0x3C00);
        assert_eq!(narrow(Element::F16, 1.0 + 3.0 / 2048.0), 0x3C02);
        assert_eq!(narrow(Element::Bf16, 1.0 + 1.0 / 256.0), 0x3F80);
        assert_eq!(narrow(Element::F16, 1e6), 0x7C00);
    }
}
