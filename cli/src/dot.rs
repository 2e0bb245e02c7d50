//! The dot product of the arrays in two files.

use std::slice;

use warpfold::{Dot, Error};

use crate::command::{Done, Session};
use crate::failure::Failure;
use crate::memory::chunk_len;
use crate::options::Input;
use crate::ranks::own_part;
use crate::source::DefaultFormat;
use crate::sources::{Elements, Sources};

/// For any other number of files.
pub const USAGE: &str = "dot multiplies two arrays: give two files, without --each";

pub fn run<'a>(
    input: &Input,
    first: Sources<'a>,
    session: &mut Session<'a>,
) -> Result<Done, Failure> {
    let file = slice::from_ref(&input.files[1]);
    let second = session.find(file, DefaultFormat::Raw(input.dtype))?;
    let (dtype, names) = (first.dtype, [first.name(), second.name()]);
    if second.dtype != dtype {
        let [first, other] = names;
        return Err(Failure::Usage(format!(
            "{other} holds {}, but {first} holds {dtype}: the arrays of a dot product must have one type",
            second.dtype
        )));
    }
    let lengths = |lens: [usize; 2]| Failure::Lengths {
        files: names.clone(),
        lens,
    };
    if let (Some(a), Some(b)) = (first.len, second.len)
        && a != b
    {
        return Err(lengths([a, b]));
    }
    warpfold::with_type!(dtype, |T| {
        let device = session.device(input)?;
        let bytes = 2 * size_of::<T>();
        let chunk = chunk_len(&device, input.device_memory, bytes, first.len, 0)?;
        let total = first.bytes().zip(second.bytes());
        let reading = session.reading(total.map(|(a, b)| a.saturating_add(b)));
        let share = session.share(&first)?;
        let a = own_part(first.elements::<T>(), share.as_ref());
        let both = a.and_then(|a| Ok((a, own_part(second.elements::<T>(), share.as_ref())?)));
        let (mut a, mut b) = session.together("open", both.map_err(Failure::from))?;
        let chunks = (device.chunks::<T>(chunk)?, device.chunks::<T>(chunk)?);
        let mut are_equal = true;
        let fill = |(to_a, to_b): (&mut [T], &mut [T])| {
            let n = (a.read(to_a, &reading)?, b.read(to_b, &reading)?);
            are_equal &= n.0 == n.1;
            Ok::<_, Error>(if are_equal { n.0 } else { None })
        };
        let dot = match &share {
            None => device.reduce_chunks_of(Dot, chunks, fill)?,
            Some(share) => share.ranks.reduce_chunks_of(Dot, share.n, chunks, fill)?,
        };
        if !are_equal {
            let rest = |elements: &mut Elements<'_, T>| elements.count(&reading);
            return Err(lengths([rest(&mut a)?, rest(&mut b)?]));
        }
        Ok(Done {
            n: share.map_or(a.n(), |share| share.n as usize),
            result: dot.into(),
            device,
            reading,
            chunk_bytes: chunk * bytes,
        })
    })
}
