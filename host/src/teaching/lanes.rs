//! Calls whose lanes vote: the search for peers, the sums of peers, and a filter.

use std::sync::Arc;

use kernels_gpu::entry::teaching::LANES;
use kernels_gpu::keyed::search::MOST_THREADS;
use kernels_gpu::warp::WARP_SIZE;

use crate::backend::Queue;
use crate::buffer::Location;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::input::Input;
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::{DeviceMemory, Span};
use crate::pass::{CPU_MAX_BLOCKS, Pass};
use crate::plan::{Job, Plan};

/// How the lanes of a warp find those with the same key; see [`kernels_gpu::keyed::search`].
///
/// On the CPU the choice has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeerSearch {
    /// By a loop of ballots, one for each different key.
    Ballot,
    /// By `match.any`, one instruction.
    #[default]
    Match,
    /// By a hash table in shared memory.
    Hash,
}

impl PeerSearch {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Ballot, Self::Match, Self::Hash];

    /// The kernel's name in `kernels-gpu`, such as `find_peers_match`.
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Ballot => "find_peers_ballot",
            Self::Match => "find_peers_match",
            Self::Hash => "find_peers_hash",
        }
    }
}

/// How the threads of a filter increase their common counter; see [`kernels_gpu::filter`].
///
/// On the CPU the choice has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Counter {
    /// One atomic for each element that is kept.
    Element,
    /// One atomic for each warp.
    #[default]
    Warp,
}

impl Counter {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Element, Self::Warp];

    /// The kernel's name in `kernels-gpu`, such as `filter_warp`.
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Element => "filter_atomic",
            Self::Warp => "filter_warp",
        }
    }
}

impl Device {
    /// Prepares the search for the peers of each key: the elements with the same key among the 32 of its warp. The
    /// result has a mask for each key, with bit `i` for element `i` of the warp.
    ///
    /// ```
    /// use warpfold::{Device, PeerSearch};
    ///
    /// let device = Device::auto()?;
    /// let keys = device.upload(&[7u32, 5, 7, 7])?;
    /// let masks = device.find_peers(&keys, PeerSearch::Match)?.run()?;
    /// assert_eq!(masks, [0b1101, 0b0010, 0b1101, 0b1101]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`], [`Error::OutOfMemory`], [`Error::GridTooLarge`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn find_peers<'a>(
        &self,
        keys: impl Input<'a, u32>,
        by: PeerSearch,
    ) -> Result<Plan<'a, Vec<u32>>, Error> {
        self.lanes(by.kernel_name(), keys, Others::None, |keys, _| {
            keys.iter().map(|key| mask(keys, *key)).collect()
        })
    }

    /// Prepares the sum of each value and its peers': the values with the same key among the 32 of its warp.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let keys = device.upload(&[7u32, 5, 7, 7])?;
    /// let values = device.upload(&[1.0, 2.0, 4.0, 8.0])?;
    /// let sums = device.all_reduce_peers(&keys, &values)?.run()?;
    /// assert_eq!(sums, [13.0, 2.0, 13.0, 13.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// The GPU adds the values of a group in a tree, the CPU one after another.
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`] if the arrays have different lengths; otherwise as [`find_peers`](Self::find_peers).
    pub fn all_reduce_peers<'a>(
        &self,
        keys: impl Input<'a, u32>,
        values: impl Input<'a, f64>,
    ) -> Result<Plan<'a, Vec<f64>>, Error> {
        let (keys, values) = (keys.into_views(), values.into_views());
        self.check_owner(&values)?;
        if keys.len() != values.len() {
            return Err(Error::KeysAndValues {
                keys: keys.len(),
                values: values.len(),
                arrays: 1,
            });
        }
        let others = Others::Values(values.location());
        self.lanes("all_reduce_peers", keys, others, |keys, values| {
            let of = |key| {
                let peers = values.iter().zip(keys).filter(|(_, other)| **other == key);
                peers.map(|(value, _)| value).sum()
            };
            keys.iter().map(|key| of(*key)).collect()
        })
    }

    /// Prepares a filter: the elements that are greater than `above`.
    ///
    /// ```
    /// use warpfold::{Counter, Device};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[3, -1, 4, -1, 5])?;
    /// let positive = device.filter_above(&x, 0, Counter::Warp)?.run()?;
    /// assert_eq!(positive, [3, 4, 5]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// The CPU keeps the order of the elements. On a GPU only those of a warp are in order, with [`Counter::Warp`]; the
    /// order of the warps differs from run to run.
    ///
    /// # Errors
    ///
    /// As [`find_peers`](Self::find_peers).
    pub fn filter_above<'a>(
        &self,
        x: impl Input<'a, i32>,
        above: i32,
        counter: Counter,
    ) -> Result<Plan<'a, Vec<i32>>, Error> {
        self.lanes(
            counter.kernel_name(),
            x,
            Others::Above(above),
            move |x, _| x.iter().copied().filter(|x| *x > above).collect(),
        )
    }

    /// A plan of the kernel with this name. `on_cpu` gets the elements of a warp, and their values.
    fn lanes<'a, I: Element, T: Element>(
        &self,
        kernel: &'static str,
        input: impl Input<'a, I>,
        others: Others<'a>,
        on_cpu: impl Fn(&[I], &[f64]) -> Vec<T> + Send + 'a,
    ) -> Result<Plan<'a, Vec<T>>, Error> {
        let input = input.into_views();
        self.check_owner(&input)?;
        let n = input.len();
        let blocks = n.div_ceil(MOST_THREADS);
        match (input.location(), self.queue()) {
            _ if n == 0 => Ok(Plan::on_cpu(kernel, || (), |()| Vec::new())),
            (Location::Host(input), _) => {
                let warps = move |()| {
                    let warps = (0..n).step_by(WARP_SIZE as usize);
                    let results = warps.flat_map(|first| {
                        let warp = first..n.min(first + WARP_SIZE as usize);
                        let values = match others {
                            Others::Values(Location::Host(values)) => &values[warp.clone()],
                            _ => &[],
                        };
                        on_cpu(&input[warp], values)
                    });
                    results.collect()
                };
                Ok(Plan::on_cpu(kernel, || (), warps))
            }
            (Location::Device(_), Some(_)) if blocks > CPU_MAX_BLOCKS as usize => {
                Err(Error::GridTooLarge {
                    kernel,
                    blocks: blocks as u64,
                    threads: MOST_THREADS as u32,
                    limit: CPU_MAX_BLOCKS,
                })
            }
            (Location::Device(input), Some(queue)) => {
                let pass = Pass {
                    blocks: blocks as u32,
                    threads: MOST_THREADS as u32,
                    n: n as u64,
                };
                let mut rows = LANES.entries.iter();
                let row = rows.find(|row| row.kernel == kernel);
                let launch = Launch {
                    queue: Arc::clone(queue),
                    kernel: Kernel::find(queue.gpu(), row.expect("the list has the kernel"))?,
                    pass,
                    input,
                    count: match others {
                        Others::Above(_) => Some(DeviceMemory::filled(queue, 1, 0)?),
                        _ => None,
                    },
                    others,
                    output: DeviceMemory::<T>::filled(queue, n, 0)?,
                };
                Ok(Plan::new(kernel, vec![pass], launch))
            }
            (Location::Device(_), None) => unreachable!("`check_owner` has compared the devices"),
        }
    }
}

/// The elements of a warp with this key.
fn mask(keys: &[u32], key: u32) -> u32 {
    let peers = keys.iter().enumerate().filter(|(_, other)| **other == key);
    peers.fold(0, |mask, (lane, _)| mask | 1 << lane)
}

/// What a kernel reads besides its first array.
enum Others<'a> {
    None,
    /// A value for each key.
    Values(Location<'a, f64>),
    /// The number above which elements are kept.
    Above(i32),
}

/// A launch on a GPU.
struct Launch<'a, I: Element, T: Element> {
    queue: Arc<Queue>,
    kernel: Kernel,
    pass: Pass,
    input: Span<'a, I>,
    others: Others<'a>,
    output: DeviceMemory<T>,
    /// The number of elements of the output, if the kernel counts them.
    count: Option<DeviceMemory<u64>>,
}

impl<I: Element, T: Element> Job<Vec<T>> for Launch<'_, I, T> {
    fn enqueue(&mut self) -> Result<(), Error> {
        let queue = &self.queue;
        queue.gpu().enter()?;
        if let Some(count) = &mut self.count {
            count.enqueue_fill(queue, 0)?;
        }
        let grid = Grid {
            blocks: self.pass.blocks,
            threads: self.pass.threads,
        };
        let mut arguments = vec![Argument::input(self.input)];
        if let Others::Values(Location::Device(values)) = self.others {
            arguments.push(Argument::input(values));
        }
        arguments.push(Argument::output(&mut self.output));
        if let (Some(count), Others::Above(above)) = (&mut self.count, &self.others) {
            arguments.push(Argument::output(count));
            arguments.push(Argument::number(i64::from(*above) as u64));
        }
        // SAFETY:
        // - `Kernel::launch` compares number, kinds and sizes of the arguments with the row's parameters.
        // - The inputs are borrowed and have one length (`Device::all_reduce_peers`). The output is the plan's, and has
        //   as many elements; a counter is 0 (above).
        // - There is a thread for each element, in blocks of `MOST_THREADS`.
        unsafe { self.kernel.launch(queue, grid, &arguments) }
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn result(&self) -> Result<Vec<T>, Error> {
        let len = match &self.count {
            Some(count) => count.all().download(&self.queue)?[0] as usize,
            None => self.output.len(),
        };
        self.output.span(0, len).download(&self.queue)
    }

    fn result_ptr(&self) -> u64 {
        self.output.address()
    }

    fn fill(&mut self, byte: u8) -> Result<(), Error> {
        self.output.enqueue_fill(&self.queue, byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_finds_sums_and_filters() {
        let device = Device::cpu();
        for n in [0, 1, 31, 32, 33, 100] {
            let keys: Vec<u32> = (0..n).map(|i| i * i % 5).collect();
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let (x, y) = (
                device.upload(&keys).unwrap(),
                device.upload(&values).unwrap(),
            );
            let sums = device.all_reduce_peers(&x, &y).unwrap().run().unwrap();
            for by in PeerSearch::ALL {
                let masks = device.find_peers(&x, by).unwrap().run().unwrap();
                assert_eq!(masks.len(), n as usize);
                for i in 0..n as usize {
                    let (first, lane) = (i / 32 * 32, i % 32);
                    assert_eq!(masks[i] >> lane & 1, 1);
                    let peers = (0..32).filter(|lane| masks[i] >> lane & 1 == 1);
                    let peers: Vec<usize> = peers.map(|lane| first + lane).collect();
                    assert!(peers.iter().all(|peer| keys[*peer] == keys[i]));
                    assert_eq!(sums[i], peers.iter().map(|peer| values[*peer]).sum());
                }
            }
            let integers: Vec<i32> = (0..n as i32).map(|i| i * 7 % 10 - 5).collect();
            let kept: Vec<i32> = integers.iter().copied().filter(|x| *x > -2).collect();
            let x = device.upload(&integers).unwrap();
            for counter in Counter::ALL {
                let plan = device.filter_above(&x, -2, counter).unwrap();
                assert_eq!(plan.run(), Ok(kept.clone()));
            }
        }
    }

    #[test]
    fn keys_and_values_have_one_length() {
        let device = Device::cpu();
        let keys = device.upload(&[1u32; 3]).unwrap();
        let values = device.upload(&[1.0; 4]).unwrap();
        let error = device.all_reduce_peers(&keys, &values).unwrap_err();
        let expected = Error::KeysAndValues {
            keys: 3,
            values: 4,
            arrays: 1,
        };
        assert_eq!(error, expected);
    }
}
