//! An exact sum as bytes.

use super::fixed::Fixed;
use super::{Accumulator, Flags, WORDS};
use core::fmt;

/// The number of bytes of a stored [`Accumulator`].
pub const BYTES: usize = 8 * WORDS + 24;

/// What the bytes begin with, before the version.
const MAGIC: [u8; 7] = *b"wfexact";

/// The version of the layout.
const VERSION: u8 = b'1';

impl Accumulator {
    /// The sum as bytes, the same on every machine: to store it, or to send it to who merges it.
    ///
    /// | bytes | hold |
    /// |---|---|
    /// | 0 to 7 | `wfexact` and the layout's version, `1` |
    /// | 8 to 15 | the number of items |
    /// | 16 to 23 | the flags |
    /// | 24 to 559 | the words, the lowest first, in two's complement; the lowest bit is 2^-2148 |
    ///
    /// All numbers have 64 bits and are little endian.
    ///
    /// ```
    /// use kernels_gpu::exact::Accumulator;
    ///
    /// let mut here = Accumulator::new();
    /// here.add_all(&[1e100, 1.0]);
    /// let bytes = here.to_bytes();
    ///
    /// let mut there = Accumulator::from_bytes(&bytes)?;
    /// there.add(-1e100);
    /// assert_eq!(there.sum::<f64>(), 1.0);
    /// assert!(Accumulator::from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), kernels_gpu::exact::BytesError>(())
    /// ```
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let numbers = [self.count, self.flags.bits().into()];
        let numbers = numbers.iter().chain(&self.fixed.0);
        let mut bytes = [0; BYTES];
        let (fields, _) = bytes.as_chunks_mut();
        fields[0][..7].copy_from_slice(&MAGIC);
        fields[0][7] = VERSION;
        for (field, number) in fields[1..].iter_mut().zip(numbers) {
            *field = number.to_le_bytes();
        }
        bytes
    }

    /// The sum that [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    ///
    /// [`BytesError`] if the bytes cannot be from there.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let bytes: &[u8; BYTES] = bytes.try_into().map_err(|_| BytesError::Length {
            length: bytes.len(),
        })?;
        let (fields, _) = bytes.as_chunks::<8>();
        if fields[0][..7] != MAGIC {
            return Err(BytesError::Magic);
        }
        if fields[0][7] != VERSION {
            return Err(BytesError::Version {
                version: fields[0][7],
            });
        }
        let number = |index: usize| u64::from_le_bytes(fields[index]);
        let bits = number(2);
        let flags = u32::try_from(bits).ok().and_then(Flags::from_bits);
        Ok(Self {
            fixed: Fixed(core::array::from_fn(|word| number(3 + word))),
            count: number(1),
            flags: flags.ok_or(BytesError::Flags { bits })?,
        })
    }
}

/// Bytes are not those of an [`Accumulator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BytesError {
    /// There are not [`BYTES`] bytes.
    Length {
        /// The number of bytes.
        length: usize,
    },
    /// They do not begin with `wfexact`.
    Magic,
    /// The layout has another version.
    Version {
        /// The byte of the version.
        version: u8,
    },
    /// A flag is set that does not exist.
    Flags {
        /// All flags.
        bits: u64,
    },
}

impl fmt::Display for BytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { length } => write!(
                f,
                "{length} bytes; an exact sum has {BYTES}: pass all bytes of `to_bytes`, and no others"
            ),
            Self::Magic => write!(
                f,
                "the bytes do not begin with `wfexact`: pass what `to_bytes` gave"
            ),
            Self::Version { version } => write!(
                f,
                "an exact sum of version `{}`; must be `{}`: store it by the same version of warpfold",
                version.escape_ascii(),
                VERSION.escape_ascii()
            ),
            Self::Flags { bits } => write!(
                f,
                "an exact sum with the flags {bits:#x}; must be at most 0xf: the bytes are damaged"
            ),
        }
    }
}

impl core::error::Error for BytesError {}
