//! Ranks whose bytes NCCL moves, between the GPUs of a host or of several.

mod library;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::TIME_LIMIT;
use super::communicator::{Communicator, check_ranks};
use super::watch::Watch;
use crate::backend::Queue;
use crate::device::Device;
use crate::driver;
use crate::error::{Error, RanksError};
use crate::memory::{DeviceMemory, PinnedMemory};
use library::{Handle, Id, Library, library};

/// The name by which the ranks of an [`Nccl`] communicator find each other: 128 bytes.
///
/// One rank makes it and sends it to all others, by any means.
#[derive(Clone, Copy)]
pub struct NcclId(Id);

impl NcclId {
    /// A new name. The process that makes it must stay until all ranks have met.
    ///
    /// # Errors
    ///
    /// [`StartError::NoNccl`](crate::StartError::NoNccl), [`StartError::OldNccl`](crate::StartError::OldNccl);
    /// [`RanksError::Engine`].
    pub fn new() -> Result<Self, Error> {
        Ok(Self(library()?.new_id()?))
    }

    /// As bytes, to be sent.
    pub fn to_bytes(&self) -> [u8; 128] {
        self.0.0
    }

    /// From [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: [u8; 128]) -> Self {
        Self(Id(bytes))
    }
}

impl fmt::Debug for NcclId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NcclId(..)")
    }
}

/// A rank on a GPU, whose bytes NCCL moves: over NVLink, PCIe or a network.
///
/// NCCL is opened when it is first needed: `libnccl.so.2`, then `libnccl.so`, or the file that `WARPFOLD_NCCL` names. The
/// messages go through memory of the GPU, on the device's stream. A call waits at most the time limit, and looks for
/// NCCL's own errors meanwhile; after an error the communicator is aborted.
///
/// [`Distributed::from_env`](super::Distributed::from_env) makes one for a process that a launcher has started;
/// [`Nccl::of_devices`] makes those of one process with several GPUs.
pub struct Nccl {
    rank: usize,
    size: usize,
    limit: Duration,
    queue: Arc<Queue>,
    /// `None` after an abort.
    comm: Mutex<Option<Comm>>,
    watch: Option<Watch>,
}

/// The communicator of NCCL, and memory for messages.
struct Comm {
    library: &'static Library,
    handle: Handle,
    staging: Option<Staging>,
}

// SAFETY: NCCL's communicators may be used from any thread, one at a time; `Nccl` has it behind a lock.
unsafe impl Send for Comm {}

/// Messages on the GPU, and where they are copied from and to on the host.
struct Staging {
    device: DeviceMemory<u8>,
    host: PinnedMemory<u8>,
}

/// How long a rank goes on after another has ended, which may have been after its last message.
const GRACE: Duration = Duration::from_secs(1);

/// How long the last call of a communicator may take, before it is aborted.
const END: Duration = Duration::from_secs(2);

/// How long a wait spins before it sleeps now and then.
const SPIN: Duration = Duration::from_millis(2);

/// The alignment of messages.
const ALIGNMENT: usize = 16;

impl Nccl {
    /// The version of NCCL: `(2, 27, 3)`.
    ///
    /// # Errors
    ///
    /// As [`NcclId::new`].
    pub fn version() -> Result<(u32, u32, u32), Error> {
        let version = library()?.version.unsigned_abs();
        Ok((version / 10_000, version / 100 % 100, version % 100))
    }

    /// Rank `rank` of `size`. All ranks make this call with the same id, each with a GPU of its own, and it waits for all.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsGpu`] on the CPU and on a simulated GPU; [`RanksError::NoSuchRank`]; [`RanksError::TimedOut`];
    /// otherwise as [`NcclId::new`].
    pub fn new(
        device: &Device,
        id: &NcclId,
        rank: usize,
        size: usize,
        limit: Duration,
    ) -> Result<Self, Error> {
        Self::watched(device, id, (rank, size), limit, None)
    }

    /// The ranks of one process with several GPUs, in the order of the devices; each is to be used by a thread of its own.
    ///
    /// ```no_run
    /// use std::thread;
    /// use warpfold::many::{Distributed, Nccl};
    /// use warpfold::Device;
    ///
    /// let devices = [Device::nth(0)?, Device::nth(1)?];
    /// let ranks = Nccl::of_devices(&devices)?;
    /// thread::scope(|scope| {
    ///     for (ranks, device) in ranks.into_iter().zip(devices) {
    ///         scope.spawn(|| {
    ///             let all = Distributed::new(device, ranks);
    ///             let x = all.device().upload(&[1.0f32; 1000])?;
    ///             println!("{}", all.sum(&x)?);
    ///             Ok::<(), warpfold::Error>(())
    ///         });
    ///     }
    /// });
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_devices(devices: &[Device]) -> Result<Vec<Self>, Error> {
        let id = NcclId::new()?;
        let size = devices.len();
        let ranks = devices.iter().zip(Watch::of_threads(size)).enumerate();
        thread::scope(|scope| {
            let open = |(rank, (device, watch))| {
                scope.spawn(move || {
                    Self::watched(device, &id, (rank, size), TIME_LIMIT, Some(watch))
                })
            };
            let threads: Vec<_> = ranks.map(open).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        })
    }

    /// [`new`](Self::new), with what tells which rank has ended.
    pub(super) fn watched(
        device: &Device,
        id: &NcclId,
        (rank, size): (usize, usize),
        limit: Duration,
        watch: Option<Watch>,
    ) -> Result<Self, Error> {
        check_ranks([rank].into_iter(), size)?;
        let what = "NCCL";
        let queue = match device.queue() {
            Some(queue) if !queue.gpu().is_simulated() => Arc::clone(queue),
            _ => return Err(Error::NeedsGpu { what }),
        };
        let library = library()?;
        // NCCL takes the device whose context is current.
        queue.gpu().enter()?;
        let comm = Comm {
            library,
            handle: library.init(id.0, rank, size)?,
            staging: None,
        };
        let nccl = Self {
            rank,
            size,
            limit,
            queue,
            comm: Mutex::new(Some(comm)),
            watch,
        };
        nccl.with(|comm| nccl.settle(comm, "ncclCommInitRankConfig"))?;
        Ok(nccl)
    }

    /// The same rank, which waits at most this long for others.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Makes a call. After an error of NCCL, and after a wait that was too long, the communicator is aborted.
    fn with<R>(&self, call: impl FnOnce(&mut Comm) -> Result<R, Error>) -> Result<R, Error> {
        let mut guard = self.comm.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(comm) = &mut *guard else {
            return Err(RanksError::Engine {
                engine: "NCCL",
                call: "ncclCommAbort",
                text: "an earlier call failed, so there is no communicator any more".into(),
            }
            .into());
        };
        self.queue.gpu().enter()?;
        let result = call(comm);
        if result.is_err() {
            let comm = guard.take().expect("it was there");
            // SAFETY: it is alive, and no longer in `self`.
            unsafe { comm.library.abort(comm.handle) };
        }
        result
    }

    /// Waits until the calls so far have been enqueued, which may take long: NCCL connects ranks when they first need it.
    fn settle(&self, comm: &Comm, call: &'static str) -> Result<(), Error> {
        self.wait(call, || {
            // SAFETY: the communicator is alive (`with`).
            Ok(unsafe { comm.library.is_settled(call, comm.handle) }?)
        })
    }

    /// Waits for the work on the stream.
    fn finish(&self, comm: &Comm, call: &'static str) -> Result<(), Error> {
        let mut queries = 0u32;
        self.wait(call, || {
            if self.queue.is_idle()? {
                return Ok(true);
            }
            queries += 1;
            if queries.is_multiple_of(64) {
                // SAFETY: the communicator is alive (`with`).
                unsafe { comm.library.is_settled(call, comm.handle) }?;
            }
            Ok(false)
        })
    }

    /// Waits until `is_done`, within the limit.
    fn wait(
        &self,
        call: &'static str,
        mut is_done: impl FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let mut end = None;
        while !is_done()? {
            let now = Instant::now();
            if now - start < SPIN {
                std::hint::spin_loop();
                continue;
            }
            let size = self.size;
            match (&end, self.watch.as_ref().and_then(Watch::lost)) {
                (None, Some(rank)) => end = Some((now + GRACE, rank)),
                (Some((end, rank)), _) if now >= *end => {
                    return Err(RanksError::Lost {
                        rank: *rank,
                        size,
                        call,
                    }
                    .into());
                }
                _ => {}
            }
            if now - start >= self.limit {
                return Err(RanksError::TimedOut {
                    call,
                    missing: vec![],
                    size,
                    limit: self.limit,
                }
                .into());
            }
            thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }

    /// Makes room for messages of so many bytes in all.
    fn staging<'c>(&self, comm: &'c mut Comm, bytes: usize) -> Result<&'c mut Staging, Error> {
        let has = comm
            .staging
            .as_ref()
            .map_or(0, |staging| staging.device.len());
        if has < bytes {
            let bytes = bytes.next_power_of_two().max(1 << 16);
            // First free what is too short.
            comm.staging = None;
            comm.staging = Some(Staging {
                device: DeviceMemory::allocate(&self.queue, bytes)?,
                host: PinnedMemory::new(self.queue.gpu(), bytes)?,
            });
        }
        Ok(comm
            .staging
            .as_mut()
            .expect("made above, if there was none"))
    }
}

impl Staging {
    /// The bytes on the host. The last call has waited for the stream.
    fn host(&mut self) -> &mut [u8] {
        // SAFETY: copies from and to it are enqueued by the calls of `Nccl` alone, which wait for them, or abort the
        // communicator and never use the memory again.
        unsafe { self.host.elements() }
    }

    /// Enqueues a copy of some bytes to the GPU.
    fn send(&mut self, queue: &Queue, at: usize, bytes: usize) -> Result<(), Error> {
        assert!(at + bytes <= self.device.len());
        let (to, from) = (self.device.address() + at as u64, self.host().as_ptr());
        // SAFETY: both have the bytes (asserted; they have the same length), which stay allocated until the stream has been
        // waited for (`Drop` of both), and which the host does not change before (`host`). The context is current (`with`).
        unsafe { driver::copy_to_device(to, from.add(at).cast(), bytes, queue.handle()) }
    }

    /// Enqueues a copy of some bytes to the host.
    fn receive(&mut self, queue: &Queue, at: usize, bytes: usize) -> Result<(), Error> {
        assert!(at + bytes <= self.device.len());
        let (from, to) = (self.device.address() + at as u64, self.host().as_mut_ptr());
        // SAFETY: as in `send`.
        unsafe { driver::copy_to_host(to.add(at).cast(), from, bytes, queue.handle()) }
    }
}

impl Communicator for Nccl {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        const CALL: &str = "ncclAllGather";
        let (n, stream) = (bytes.len(), self.queue.handle());
        if n == 0 {
            return Ok(vec![]);
        }
        self.with(|comm| {
            let (first, all) = (n.next_multiple_of(ALIGNMENT), n * self.size);
            let (library, handle) = (comm.library, comm.handle);
            let staging = self.staging(comm, first + all)?;
            staging.host()[..n].copy_from_slice(bytes);
            staging.send(&self.queue, 0, n)?;
            let address = staging.device.address();
            // SAFETY: the communicator is alive and the context current (`with`). Both parts are in the staging memory,
            // which only this call uses until it has waited.
            unsafe {
                library.all_gather(handle, address, address + first as u64, n, stream.cast())
            }?;
            self.settle(comm, CALL)?;
            let staging = self.staging(comm, first + all)?;
            staging.receive(&self.queue, first, all)?;
            self.finish(comm, CALL)?;
            Ok(self.staging(comm, first + all)?.host()[first..first + all].to_vec())
        })
    }

    fn exchange(
        &self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> Result<(), Error> {
        const CALL: &str = "ncclSend and ncclRecv";
        let ranks = sends.iter().map(|send| send.0);
        check_ranks(
            ranks.chain(receives.iter().map(|receive| receive.0)),
            self.size,
        )?;
        // The messages behind one another; empty ones are not sent.
        let mut end = 0;
        let mut place = |rank: usize, bytes: usize| {
            let at = end;
            end += bytes.next_multiple_of(ALIGNMENT);
            (rank, at, bytes)
        };
        let sent: Vec<_> = sends
            .iter()
            .map(|(to, bytes)| place(*to, bytes.len()))
            .collect();
        let received: Vec<_> = receives
            .iter()
            .map(|(from, bytes)| place(*from, bytes.len()))
            .collect();
        if end == 0 {
            return Ok(());
        }
        let sent_bytes = received.first().map_or(end, |(_, at, _)| *at);
        self.with(|comm| {
            let (library, handle) = (comm.library, comm.handle);
            let staging = self.staging(comm, end)?;
            for ((_, at, n), (_, bytes)) in sent.iter().zip(sends) {
                staging.host()[*at..at + n].copy_from_slice(bytes);
            }
            if sent_bytes > 0 {
                staging.send(&self.queue, 0, sent_bytes)?;
            }
            let address = staging.device.address();
            let on_device = |messages: &[(usize, usize, usize)]| -> Vec<(usize, u64, usize)> {
                { messages.iter() }
                    .filter(|(_, _, n)| *n > 0)
                    .map(|(rank, at, n)| (*rank, address + *at as u64, *n))
                    .collect()
            };
            let (sent, to) = (on_device(&sent), on_device(&received));
            // SAFETY: the communicator is alive and the context current (`with`). The messages are in the staging memory,
            // which only this call uses until it has waited.
            unsafe { library.exchange(handle, &sent, &to, self.queue.handle().cast()) }?;
            self.settle(comm, CALL)?;
            if end > sent_bytes {
                let staging = self.staging(comm, end)?;
                staging.receive(&self.queue, sent_bytes, end - sent_bytes)?;
            }
            self.finish(comm, CALL)?;
            let staging = self.staging(comm, end)?;
            for ((_, at, n), (_, to)) in received.iter().zip(receives) {
                to.copy_from_slice(&staging.host()[*at..at + n]);
            }
            Ok(())
        })
    }
}

impl fmt::Debug for Nccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gpu = &self.queue.gpu().info;
        write!(
            f,
            "Nccl(rank {} of {} on {})",
            self.rank, self.size, gpu.name
        )
    }
}

/// Waits a little for the other ranks, which may still read from this rank's memory.
impl Drop for Nccl {
    fn drop(&mut self) {
        let guard = self.comm.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(comm) = guard.take() else {
            return;
        };
        let (library, handle) = (comm.library, comm.handle);
        let entered = self.queue.gpu().enter().is_ok();
        // SAFETY: the communicator is alive.
        let mut ends = entered && unsafe { library.finalize(handle) }.is_ok();
        let deadline = Instant::now() + END;
        while ends {
            // SAFETY: the communicator is alive until it is destroyed.
            match unsafe { library.is_settled("ncclCommFinalize", handle) } {
                Ok(true) => break,
                Ok(false) if Instant::now() < deadline => thread::sleep(Duration::from_micros(200)),
                _ => ends = false,
            }
        }
        match ends {
            // SAFETY: it is alive, finalized, and not used again.
            true => unsafe { library.destroy(handle) },
            // SAFETY: it is alive and not used again.
            false => unsafe { library.abort(handle) },
        }
    }
}
