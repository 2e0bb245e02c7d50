//! Numbers of LLVM-C's enumerations, for the passes.

// LLVMOpcode.
pub(crate) const OP_FADD: u32 = 9;
pub(crate) const OP_FSUB: u32 = 11;
pub(crate) const OP_FMUL: u32 = 13;
pub(crate) const OP_FDIV: u32 = 16;
pub(crate) const OP_FREM: u32 = 19;
pub(crate) const OP_LOAD: u32 = 27;
pub(crate) const OP_STORE: u32 = 28;
pub(crate) const OP_FP_TO_UI: u32 = 33;
pub(crate) const OP_FP_EXT: u32 = 38;
pub(crate) const OP_FCMP: u32 = 43;
pub(crate) const OP_ALLOCA: u32 = 26;
pub(crate) const OP_CALL: u32 = 45;
pub(crate) const OP_CMPXCHG: u32 = 56;
pub(crate) const OP_ATOMIC_RMW: u32 = 57;
pub(crate) const OP_FNEG: u32 = 66;

// LLVMFastMathFlags.
pub(crate) const FAST_MATH_CONTRACT: u32 = 1 << 5;
pub(crate) const FAST_MATH_APPROX_FUNC: u32 = 1 << 6;

// LLVMAtomicOrdering.
pub(crate) const ORDERING_NOT_ATOMIC: u32 = 0;
pub(crate) const ORDERING_MONOTONIC: u32 = 2;
pub(crate) const ORDERING_ACQUIRE: u32 = 4;
pub(crate) const ORDERING_RELEASE: u32 = 5;
pub(crate) const ORDERING_ACQ_REL: u32 = 6;
pub(crate) const ORDERING_SEQ_CST: u32 = 7;
