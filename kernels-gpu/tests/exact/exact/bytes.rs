//! Sums as bytes. The random lists test that sums come back.

use kernels_gpu::exact::{Accumulator, BYTES, BytesError, LOWEST};

fn bytes() -> [u8; BYTES] {
    let mut sum = Accumulator::new();
    sum.add_all(&[1.0f32, f32::NAN]);
    sum.to_bytes()
}

#[test]
fn layout_is_that_of_the_documentation() {
    let mut wanted = [0; 560];
    wanted[..8].copy_from_slice(b"wfexact1");
    wanted[8] = 2;
    wanted[16] = 1 + 8;
    let bit = -LOWEST as usize;
    wanted[24 + bit / 8] = 1 << (bit % 8);
    assert_eq!(bytes(), wanted);

    let mut negative = Accumulator::new();
    negative.add_integer(-2, LOWEST);
    let bytes = negative.to_bytes();
    assert_eq!(bytes[24], 0xfe);
    assert!(bytes[25..].iter().all(|byte| *byte == 0xff));
}

#[test]
fn other_lengths_are_refused() {
    let mut long = bytes().to_vec();
    long.push(0);
    for length in [0, 1, 24, 559, 561] {
        let error = Accumulator::from_bytes(&long[..length]).unwrap_err();
        assert_eq!(error, BytesError::Length { length });
        assert!(error.to_string().contains(&length.to_string()), "{error}");
        assert!(error.to_string().contains("560"), "{error}");
    }
}

/// Every bit of the beginning and of the flags is checked, and every other bit is part of the sum.
#[test]
fn every_changed_bit_is_refused_or_kept() {
    for bit in 0..8 * BYTES {
        let mut bytes = bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let got = Accumulator::from_bytes(&bytes);
        match bit / 8 {
            0..7 => assert_eq!(got, Err(BytesError::Magic)),
            7 => {
                let version = bytes[7];
                assert_eq!(got, Err(BytesError::Version { version }));
            }
            16..24 if bit >= 16 * 8 + 4 => {
                let bits = 9 | 1 << (bit - 16 * 8);
                assert_eq!(got, Err(BytesError::Flags { bits }));
            }
            _ => assert_eq!(got.unwrap().to_bytes(), bytes),
        }
    }
}

#[test]
fn errors_say_what_was_wrong() {
    let text = |error: BytesError| error.to_string();
    assert!(text(BytesError::Magic).contains("wfexact"));
    let version = text(BytesError::Version { version: b'2' });
    assert!(
        version.contains("`2`") && version.contains("`1`"),
        "{version}"
    );
    let flags = text(BytesError::Flags { bits: 0x101 });
    assert!(flags.contains("0x101"), "{flags}");
}
