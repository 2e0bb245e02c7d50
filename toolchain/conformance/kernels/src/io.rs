//! The buffers and parameters that every kernel gets, as one handle.

use cuda_std::thread;

/// What a launch hands to its threads.
///
/// Buffers are arrays of 64-bit words. A smaller value lies in the low bits of a
/// word; what it leaves free is zero in the input and must be zero in the output.
#[derive(Clone, Copy)]
pub struct Io<'a> {
    input: &'a [u64],
    output: *mut u64,
    output_len: usize,
    scratch: *mut u64,
    scratch_len: usize,
    /// The scalar parameters; each kernel says what it takes them for.
    pub parameters: [u64; 4],
}

impl<'a> Io<'a> {
    /// The handle of a launch.
    ///
    /// # Safety
    /// - `output` and `scratch` point to as many words as their lengths say, which
    ///   nobody else touches while the kernel runs;
    /// - two threads use the same output or scratch word only if one of them waits
    ///   for the other in between, or atomically: the kernels see to it as long as
    ///   they are launched in the shape that they ask for.
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

    /// Input word `index`. Traps when there is no such word.
    #[inline(always)]
    pub fn read(self, index: usize) -> u64 {
        self.input[index]
    }

    /// How many input words there are.
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

    /// Sets output word `index`. Traps when there is no such word.
    #[inline(always)]
    pub fn write(self, index: usize, word: u64) {
        // SAFETY: `output_word` has checked the index, and by the contract of `new`
        // no other thread uses the word now.
        unsafe { self.output_word(index).write(word) }
    }

    /// The address of output word `index`. Traps when there is no such word.
    #[inline(always)]
    pub fn output_word(self, index: usize) -> *mut u64 {
        assert!(index < self.output_len);
        // SAFETY: the index is within the buffer.
        unsafe { self.output.add(index) }
    }

    /// The address of scratch word `index`. Traps when there is no such word.
    #[inline(always)]
    pub fn scratch_word(self, index: usize) -> *mut u64 {
        assert!(index < self.scratch_len);
        // SAFETY: the index is within the buffer.
        unsafe { self.scratch.add(index) }
    }

    /// The scratch buffer as bytes: its start and their number.
    #[inline(always)]
    pub fn scratch_bytes(self) -> (*mut u8, usize) {
        (self.scratch.cast(), self.scratch_len * 8)
    }
}

/// The number of this thread in a grid of one dimension.
#[inline(always)]
pub fn global_thread() -> usize {
    block() * block_threads() + block_thread()
}

/// The number of this thread in its block of one dimension.
#[inline(always)]
pub fn block_thread() -> usize {
    thread::thread_idx_x() as usize
}

/// Threads of a block of one dimension.
#[inline(always)]
pub fn block_threads() -> usize {
    thread::block_dim_x() as usize
}

/// The number of this block in a grid of one dimension.
#[inline(always)]
pub fn block() -> usize {
    thread::block_idx_x() as usize
}

/// Blocks of a grid of one dimension.
#[inline(always)]
pub fn blocks() -> usize {
    thread::grid_dim_x() as usize
}
