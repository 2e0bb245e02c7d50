//! The buffers and parameters of a kernel, as one handle.

use cuda_std::thread;

/// The arguments of a launch.
///
/// Buffers are arrays of 64-bit words. A smaller value uses the low bits of a word. The other bits are zero
/// in the input, and must be zero in the output.
#[derive(Clone, Copy)]
pub struct Io<'a> {
    input: &'a [u64],
    output: *mut u64,
    output_len: usize,
    scratch: *mut u64,
    scratch_len: usize,
    /// The scalar parameters; their meaning depends on the kernel.
    pub parameters: [u64; 4],
}

impl<'a> Io<'a> {
    /// The handle of a launch.
    ///
    /// # Safety
    /// - `output` and `scratch` point to as many words as their lengths say, and no other code accesses them
    ///   while the kernel runs;
    /// - two threads use the same output or scratch word only if one of them waits for the other in between,
    ///   or atomically. The kernels ensure this if the launch has the shape that they require.
    #[inline(always)]
    pub unsafe fn new(
        input: &'a [u64],
        output: (*mut u64, usize),
        scratch: (*mut u64, usize),
        parameters: [u64; 4],
    ) -> Self {
        Self {
            input,
            output: output.0,
            output_len: output.1,
            scratch: scratch.0,
            scratch_len: scratch.1,
            parameters,
        }
    }

    /// Input word `index`. Traps if there is no such word.
    #[inline(always)]
    pub fn read(self, index: usize) -> u64 {
        self.input[index]
    }

    /// The number of input words.
    #[inline(always)]
    pub fn input_len(self) -> usize {
        self.input.len()
    }

    /// The input as bytes.
    #[inline(always)]
    pub fn input_bytes(self) -> *const u8 {
        self.input.as_ptr().cast()
    }

    /// Input word `index` as a 32-bit number.
    #[inline(always)]
    pub fn read_u32(self, index: usize) -> u32 {
        self.read(index) as u32
    }

    /// Sets output word `index`. Traps if there is no such word.
    #[inline(always)]
    pub fn write(self, index: usize, word: u64) {
        // SAFETY: `output_word` has checked the index, and by the contract of `new`
        // no other thread uses the word now.
        unsafe { self.output_word(index).write(word) }
    }

    /// The address of output word `index`. Traps if there is no such word.
    #[inline(always)]
    pub fn output_word(self, index: usize) -> *mut u64 {
        assert!(index < self.output_len);
        // SAFETY: the index is within the buffer.
        unsafe { self.output.add(index) }
    }

    /// The address of scratch word `index`. Traps if there is no such word.
    #[inline(always)]
    pub fn scratch_word(self, index: usize) -> *mut u64 {
        assert!(index < self.scratch_len);
        // SAFETY: the index is within the buffer.
        unsafe { self.scratch.add(index) }
    }

    /// The scratch buffer as bytes: its start and length.
    #[inline(always)]
    pub fn scratch_bytes(self) -> (*mut u8, usize) {
        (self.scratch.cast(), self.scratch_len * 8)
    }
}

/// This thread's index in a one-dimensional grid.
#[inline(always)]
pub fn global_thread() -> usize {
    block() * block_threads() + block_thread()
}

/// This thread's index in its one-dimensional block.
#[inline(always)]
pub fn block_thread() -> usize {
    thread::thread_idx_x() as usize
}

/// The number of threads of a one-dimensional block.
#[inline(always)]
pub fn block_threads() -> usize {
    thread::block_dim_x() as usize
}

/// This block's index in a one-dimensional grid.
#[inline(always)]
pub fn block() -> usize {
    thread::block_idx_x() as usize
}

/// The number of blocks of a one-dimensional grid.
#[inline(always)]
pub fn blocks() -> usize {
    thread::grid_dim_x() as usize
}
