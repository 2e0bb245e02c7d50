//! Static and dynamic shared memory, in generic functions and for types of several sizes.

use core::mem::MaybeUninit;

use crate::io::{Io, block, block_thread, block_threads, global_thread};
use crate::value::Value;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::{address_space, shared_array, thread};

/// The limit of threads per block in the kernels with static tiles.
pub const THREADS: usize = 256;

/// Words of a thread's record in the input and output of the kernels over [`Body`].
pub const BODY_WORDS: usize = 3;

/// Passes of [`ping_pong`].
pub const PASSES: usize = 5;

/// Reverses a block's values through `tile`; the common body of all kernels with a single tile.
///
/// # Safety
/// `tile` is shared memory for one value per thread, and not used otherwise.
#[inline(always)]
unsafe fn turn_around<T: Value>(io: Io, tile: *mut T) {
    let (me, threads) = (block_thread(), block_threads());
    // SAFETY: a value of its own; read by another thread after the barrier.
    unsafe {
        tile.add(me).write(T::from_word(io.read(global_thread())));
        thread::sync_threads();
        io.write(global_thread(), tile.add(threads - 1 - me).read().to_word());
    }
}

/// Dynamic shared memory as values of `T`.
///
/// # Safety
/// `size_of::<T>()` bytes of dynamic shared memory a thread.
#[inline(always)]
pub unsafe fn dynamic<T: Value>(io: Io) {
    // SAFETY: the memory is as large as `turn_around` needs.
    unsafe { turn_around::<T>(io, dynamic_shared_mem::<T>()) }
}

/// An element type with its own tiles, because a static cannot be generic.
pub trait Tiles: Value {
    /// A tile of [`THREADS`] values, made with `#[address_space(shared)]`.
    fn static_tile() -> *mut Self;

    /// A tile of [`THREADS`] values, made with `shared_array!`.
    fn array_tile() -> *mut Self;
}

macro_rules! tiles {
    ($($type:ty)*) => {
        $(impl Tiles for $type {
            #[inline(always)]
            fn static_tile() -> *mut Self {
                #[address_space(shared)]
                static mut TILE: [MaybeUninit<$type>; THREADS] =
                    [const { MaybeUninit::uninit() }; THREADS];
                (&raw mut TILE).cast()
            }

            #[inline(always)]
            fn array_tile() -> *mut Self {
                shared_array![$type; THREADS]
            }
        })*
    };
}

tiles! { u8 u16 i32 u32 f32 i64 u64 f64 cuda_std::f16 cuda_std::bf16 }

/// A static tile of `T`.
///
/// # Safety
/// At most [`THREADS`] threads a block.
#[inline(always)]
pub unsafe fn fixed<T: Tiles>(io: Io) {
    // SAFETY: the tile has a value for every thread, and this kernel alone uses it.
    unsafe { turn_around::<T>(io, T::static_tile()) }
}

/// A tile of `T` made by `shared_array!`.
///
/// # Safety
/// At most [`THREADS`] threads a block.
#[inline(always)]
pub unsafe fn array<T: Tiles>(io: Io) {
    // SAFETY: the tile has a value for every thread, and this kernel alone uses it.
    unsafe { turn_around::<T>(io, T::array_tile()) }
}

/// Two static tiles, one array and dynamic memory in one kernel. All are filled before any is read, so that
/// an overlap shows. Output for each thread: four words, and the number of the four starts that are not
/// aligned to a word.
///
/// # Safety
/// At most [`THREADS`] threads a block; one word of dynamic shared memory a thread.
#[inline(always)]
pub unsafe fn several(io: Io) {
    #[address_space(shared)]
    static mut FIRST: [MaybeUninit<u64>; THREADS] = [const { MaybeUninit::uninit() }; THREADS];
    #[address_space(shared)]
    static mut SECOND: [MaybeUninit<u64>; THREADS] = [const { MaybeUninit::uninit() }; THREADS];
    let tiles: [*mut u64; 4] = [
        (&raw mut FIRST).cast(),
        (&raw mut SECOND).cast(),
        shared_array![u64; THREADS],
        dynamic_shared_mem::<u64>(),
    ];
    let me = block_thread();
    let other = block_threads() - 1 - me;
    let word = io.read(global_thread());
    for (i, tile) in tiles.iter().enumerate() {
        // SAFETY: a word of its own in each tile.
        unsafe { tile.add(me).write(word ^ i as u64) };
    }
    thread::sync_threads();
    for (i, tile) in tiles.iter().enumerate() {
        // SAFETY: written by another thread before the barrier.
        io.write(5 * global_thread() + i, unsafe { tile.add(other).read() });
    }
    let unaligned = tiles.iter().filter(|tile| tile.addr() % 8 != 0).count();
    io.write(5 * global_thread() + 4, unaligned as u64);
}

/// A struct with members of several sizes and padding between them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Body {
    mass: f64,
    id: u32,
    kind: u8,
    charge: f32,
}

impl Body {
    #[inline(always)]
    fn read(io: Io, record: usize) -> Self {
        let word = io.read(record + 1);
        Self {
            mass: f64::from_word(io.read(record)),
            id: word as u32,
            kind: (word >> 32) as u8,
            charge: f32::from_word(io.read(record + 2)),
        }
    }

    #[inline(always)]
    fn write(self, io: Io, record: usize) {
        io.write(record, self.mass.to_word());
        io.write(record + 1, u64::from(self.id) | u64::from(self.kind) << 32);
        io.write(record + 2, self.charge.to_word());
    }
}

/// A static tile of structs, read as a whole and by field.
///
/// # Safety
/// At most [`THREADS`] threads a block.
#[inline(always)]
pub unsafe fn structs(io: Io) {
    #[address_space(shared)]
    static mut TILE: [MaybeUninit<Body>; THREADS] = [const { MaybeUninit::uninit() }; THREADS];
    let tile: *mut Body = (&raw mut TILE).cast();
    let (me, threads) = (block_thread(), block_threads());
    let record = global_thread() * BODY_WORDS;
    // SAFETY: a value of its own; read by others after the barrier.
    unsafe {
        tile.add(me).write(Body::read(io, record));
        thread::sync_threads();
        let next = tile.add((me + 1) % threads);
        let mut body = tile.add(threads - 1 - me).read();
        body.id = (*next).id;
        body.charge = (*next).charge;
        body.write(io, record);
    }
}

/// Two halves of dynamic shared memory that swap roles in every pass: the pointers themselves are swapped.
///
/// # Safety
/// Two words of dynamic shared memory a thread.
#[inline(always)]
pub unsafe fn ping_pong(io: Io) {
    let (me, threads) = (block_thread(), block_threads());
    let mut from = dynamic_shared_mem::<u64>();
    // SAFETY: the second half of the memory, one word a thread in each half; a barrier
    // lies between every write and the reads by others.
    unsafe {
        let mut to = from.add(threads);
        from.add(me).write(io.read(global_thread()));
        thread::sync_threads();
        for _ in 0..PASSES {
            let sum = from
                .add(me)
                .read()
                .wrapping_add(from.add((me + 1) % threads).read());
            to.add(me).write(sum);
            thread::sync_threads();
            core::mem::swap(&mut from, &mut to);
        }
        io.write(global_thread(), from.add(me).read());
    }
}

/// Shared memory as a slice, with bounds checks and iterators: thread 0 of each block adds the values of all
/// threads, in order.
///
/// # Safety
/// One word of dynamic shared memory a thread.
#[inline(always)]
pub unsafe fn slices(io: Io) {
    let (me, threads) = (block_thread(), block_threads());
    let start = dynamic_shared_mem::<u64>();
    // SAFETY: a word of its own.
    unsafe { start.add(me).write(io.read(global_thread())) };
    thread::sync_threads();
    if me == 0 {
        // SAFETY: all words are written, and none is written again.
        let tile = unsafe { core::slice::from_raw_parts(start, threads) };
        let sum = tile.iter().enumerate().fold(0_u64, |sum, (i, word)| {
            sum.rotate_left(1) ^ word.wrapping_add(i as u64)
        });
        io.write(2 * block(), sum);
        io.write(2 * block() + 1, tile[threads - 1]);
    }
}
