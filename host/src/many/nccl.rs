//! Ranks whose bytes NCCL moves, between the GPUs of a host or of several.

mod library;

use std::collections::HashSet;
use std::ffi::c_void;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::TIME_LIMIT;
use super::communicator::{Communicator, check_ranks};
use super::message::BLOCK;
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
    /// `None` after an abort.
    handle: Option<Handle>,
    staging: Option<Staging>,
    /// The numbers of bytes that have been gathered: NCCL connects the ranks for a way of moving bytes when it first takes it,
    /// and a call that connects waits for them.
    connected: HashSet<usize>,
}

impl Comm {
    fn abort(&mut self) {
        if let Some(handle) = self.handle.take() {
            // SAFETY: it is alive, and no longer in `self`.
            unsafe { self.library.abort(handle) };
        }
    }
}

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
const SPIN: Duration = Duration::from_millis(10);

/// The part of the time waited so far that a sleep takes, so that it delays a call by no more.
const SLEEP: u32 = 200;

/// The longest sleep.
const MOST: Duration = Duration::from_millis(1);

/// The alignment of messages.
const ALIGNMENT: usize = 16;

/// The bytes of a rank up to which NCCL gathers from and to the host's memory: two copies would take longer.
const MAPPED: usize = 4096;

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
        let nccl = Self {
            rank,
            size,
            limit,
            queue,
            comm: Mutex::new(None),
            watch,
        };
        let handle = nccl.init(library, id.0)?;
        let comm = Comm {
            library,
            handle: Some(handle),
            staging: None,
            connected: HashSet::new(),
        };
        *nccl.comm.lock().unwrap_or_else(PoisonError::into_inner) = Some(comm);
        // So that the ranks are connected for the messages of most calls.
        nccl.all_gather(&[0; BLOCK])?;
        Ok(nccl)
    }

    /// Makes the communicator, on a thread of its own: it waits for the other ranks without a limit.
    fn init(&self, library: &'static Library, id: Id) -> Result<Handle, Error> {
        const CALL: &str = "ncclCommInitRank";
        let (rank, size, gpu) = (self.rank, self.size, Arc::clone(self.queue.gpu()));
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            // NCCL takes the device whose context is current.
            let made = gpu.enter().and_then(|()| Ok(library.init(id, rank, size)?));
            if let Err(mpsc::SendError(Ok(late))) = sender.send(made) {
                // SAFETY: it is alive, and nobody has it.
                unsafe { library.abort(late) };
            }
        });
        let mut made = None;
        self.wait(CALL, || {
            made = match receiver.try_recv() {
                Ok(result) => Some(result),
                Err(mpsc::TryRecvError::Empty) => None,
                Err(mpsc::TryRecvError::Disconnected) => {
                    Some(Err(Error::other("the thread has panicked")))
                }
            };
            Ok(made.is_some())
        })?;
        made.expect("the wait ends when it is there")
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
            comm.abort();
            *guard = None;
        }
        result
    }

    /// Makes a call of NCCL that may wait for other ranks, on a thread of its own. At the limit the communicator is aborted,
    /// which ends the call.
    fn connect(
        &self,
        comm: &mut Comm,
        call: &'static str,
        run: impl FnOnce(&'static Library, Handle) -> Result<(), RanksError> + Send,
    ) -> Result<(), Error> {
        let (library, handle) = (comm.library, comm.handle.expect("`with` has checked it"));
        let gpu = self.queue.gpu();
        thread::scope(|scope| {
            let thread = scope.spawn(move || gpu.enter().and_then(|()| Ok(run(library, handle)?)));
            let waited = self.wait(call, || Ok(thread.is_finished()));
            if waited.is_err() {
                comm.abort();
            }
            let done = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            waited.and(done)
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
            if queries.is_multiple_of(64)
                && let Some(handle) = comm.handle
            {
                // SAFETY: the communicator is alive until it is taken from there.
                unsafe { comm.library.check_enqueued(call, handle) }?;
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
            thread::sleep(((now - start) / SLEEP).min(MOST));
        }
        Ok(())
    }

    /// Gathers `n` bytes of each rank, at least one. `fill` gets this rank's bytes on the host, and their address for the GPU:
    /// for up to [`MAPPED`] bytes, kernels that it enqueues on this stream may store some of them.
    pub(super) fn gather(
        &self,
        n: usize,
        fill: impl FnOnce(&mut [u8], u64),
    ) -> Result<Vec<u8>, Error> {
        const CALL: &str = "ncclAllGather";
        self.with(|comm| {
            let (first, all) = (n.next_multiple_of(ALIGNMENT), n * self.size);
            let staging = self.staging(comm, first + all)?;
            let address = staging.host.address();
            fill(&mut staging.host()[..n], address);
            let is_mapped = n <= MAPPED;
            let from = match is_mapped {
                true => address,
                false => {
                    staging.send(&self.queue, 0, n)?;
                    staging.device.address()
                }
            };
            let to = from + first as u64;
            let stream = self.queue.handle() as usize;
            let gather = |library: &'static Library, handle| {
                // SAFETY: the communicator is alive (`with`) and the context current (there and in `connect`). Both parts are
                // in the staging memory, on the GPU or pinned on the host, which only this call uses until it has waited.
                unsafe { library.all_gather(handle, from, to, n, stream as *mut c_void) }
            };
            match comm.connected.contains(&n) {
                true => gather(comm.library, comm.handle.expect("`with` has checked it"))?,
                false => {
                    self.connect(comm, CALL, gather)?;
                    comm.connected.insert(n);
                }
            }
            if !is_mapped {
                self.staging(comm, first + all)?
                    .receive(&self.queue, first, all)?;
            }
            self.finish(comm, CALL)?;
            Ok(self.staging(comm, first + all)?.host()[first..first + all].to_vec())
        })
    }

    /// Waits for all work on the stream; a failure of it is that of the next call.
    pub(super) fn settle(&self) {
        let _ = self.queue.synchronize();
    }

    /// Whether its calls are ordered with those of this stream.
    pub(super) fn is_on(&self, queue: &Arc<Queue>) -> bool {
        Arc::ptr_eq(&self.queue, queue)
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
        // SAFETY: work on it is enqueued by the calls of `Nccl` and by what they are given to fill it (`gather`). They wait for
        // it, or abort the communicator and never use the memory again.
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
        match bytes.len() {
            0 => Ok(vec![]),
            n => self.gather(n, |block, _| block.copy_from_slice(bytes)),
        }
    }

    fn nccl(&self) -> Option<&Nccl> {
        Some(self)
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
            let stream = self.queue.handle() as usize;
            self.connect(comm, CALL, |library, handle| {
                // SAFETY: the communicator is alive and the context current (`connect`). The messages are in the staging
                // memory, which only this call uses until it has waited.
                unsafe { library.exchange(handle, &sent, &to, stream as *mut c_void) }
            })?;
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
        let Some(mut comm) = guard.take() else {
            return;
        };
        let (library, handle) = (comm.library, comm.handle);
        let gpu = Arc::clone(self.queue.gpu());
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let ended = handle.is_some_and(|handle| {
                // SAFETY: the communicator is alive: it is not used again, or aborted below if this fails.
                gpu.enter().is_ok() && unsafe { library.end(handle) }.is_ok()
            });
            let _ = sender.send(ended);
        });
        match receiver.recv_timeout(END) {
            Ok(true) => comm.handle = None,
            // Also ends the wait of the thread.
            Ok(false) | Err(_) => comm.abort(),
        }
    }
}
