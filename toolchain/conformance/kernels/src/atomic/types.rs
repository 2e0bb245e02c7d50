//! A common trait for `cuda_std`'s atomic types.

use core::sync::atomic::Ordering;

use super::{FAILURE, SUCCESS, mix, next_on_circle, operation, ordering};
use crate::value::Value;
use cuda_std::atomic::{
    AtomicF32, AtomicF64, AtomicI32, AtomicI64, AtomicU32, AtomicU64, BlockAtomicF32,
    BlockAtomicF64, BlockAtomicI32, BlockAtomicI64, BlockAtomicU32, BlockAtomicU64,
    SystemAtomicF32, SystemAtomicF64, SystemAtomicI32, SystemAtomicI64, SystemAtomicU32,
    SystemAtomicU64,
};

/// Operations that return the old value.
pub trait Operate {
    /// The value's type.
    type Value: Value;

    /// Executes `operation`; returns the old value and whether it succeeded.
    ///
    /// # Safety
    /// Threads outside the type's scope do not access the address at the same time.
    unsafe fn operate(
        &self,
        operation: u64,
        ordering: u64,
        operand: Self::Value,
    ) -> (Self::Value, u64);
}

/// An atomic type of `cuda_std`.
pub trait Atomic: Operate {
    /// Executes `operation`, one of `ADD` to `XOR`, relaxed, and drops the old value.
    ///
    /// # Safety
    /// As [`Operate::operate`].
    unsafe fn reduce(&self, operation: u64, operand: Self::Value);

    /// A relaxed load.
    ///
    /// # Safety
    /// As [`Operate::operate`].
    unsafe fn load(&self) -> Self::Value;

    /// A relaxed store.
    ///
    /// # Safety
    /// As [`Operate::operate`].
    unsafe fn store(&self, value: Self::Value);
}

macro_rules! atomics {
    ($($scope:ident: $atomic:ident: $value:ty;)*) => {
        $(
            impl Scope<$value> for $scope {
                type Atomic = $atomic;
            }

            #[allow(unused_unsafe, reason = "the methods of block scope alone are unsafe")]
            impl Operate for $atomic {
                type Value = $value;

                #[inline(always)]
                unsafe fn operate(
                    &self,
                    operation: u64,
                    ordering: u64,
                    operand: $value,
                ) -> ($value, u64) {
                    // SAFETY: the caller promises that the scope covers all users.
                    unsafe {
                        match ordering {
                            ordering::RELAXED => operate!(self, operation, operand, Relaxed, Relaxed),
                            ordering::ACQUIRE => operate!(self, operation, operand, Acquire, Acquire),
                            ordering::RELEASE => operate!(self, operation, operand, Release, Relaxed),
                            ordering::ACQ_REL => operate!(self, operation, operand, AcqRel, Acquire),
                            _ => operate!(self, operation, operand, SeqCst, SeqCst),
                        }
                    }
                }
            }

            #[allow(unused_unsafe, reason = "the methods of block scope alone are unsafe")]
            impl Atomic for $atomic {
                #[inline(always)]
                unsafe fn reduce(&self, operation: u64, operand: $value) {
                    // SAFETY: the caller promises that the scope covers all users.
                    unsafe {
                        match operation {
                            operation::ADD => _ = self.fetch_add(operand, Ordering::Relaxed),
                            operation::SUB => _ = self.fetch_sub(operand, Ordering::Relaxed),
                            operation::MIN => _ = self.fetch_min(operand, Ordering::Relaxed),
                            operation::MAX => _ = self.fetch_max(operand, Ordering::Relaxed),
                            operation::AND => _ = self.fetch_and(operand, Ordering::Relaxed),
                            operation::OR => _ = self.fetch_or(operand, Ordering::Relaxed),
                            _ => _ = self.fetch_xor(operand, Ordering::Relaxed),
                        }
                    }
                }

                #[inline(always)]
                unsafe fn load(&self) -> $value {
                    // SAFETY: the caller promises that the scope covers all users.
                    unsafe { self.load(Ordering::Relaxed) }
                }

                #[inline(always)]
                unsafe fn store(&self, value: $value) {
                    // SAFETY: the caller promises that the scope covers all users.
                    unsafe { self.store(value, Ordering::Relaxed) }
                }
            }
        )*
    };
}

macro_rules! operate {
    ($atomic:ident, $operation:ident, $operand:ident, $order:ident, $failure:ident) => {
        match $operation {
            operation::ADD => ($atomic.fetch_add($operand, Ordering::$order), SUCCESS),
            operation::SUB => ($atomic.fetch_sub($operand, Ordering::$order), SUCCESS),
            operation::MIN => ($atomic.fetch_min($operand, Ordering::$order), SUCCESS),
            operation::MAX => ($atomic.fetch_max($operand, Ordering::$order), SUCCESS),
            operation::AND => ($atomic.fetch_and($operand, Ordering::$order), SUCCESS),
            operation::OR => ($atomic.fetch_or($operand, Ordering::$order), SUCCESS),
            operation::XOR => ($atomic.fetch_xor($operand, Ordering::$order), SUCCESS),
            operation::SWAP => ($atomic.swap($operand, Ordering::$order), SUCCESS),
            operation::UPDATE => {
                let mut found = $atomic.load(Ordering::Relaxed);
                loop {
                    let new = Self::Value::from_word(mix(found.to_word(), $operand.to_word()));
                    match $atomic.compare_exchange(found, new, Ordering::$order, Ordering::$failure)
                    {
                        Ok(old) => break (old, SUCCESS),
                        Err(other) => found = other,
                    }
                }
            }
            _ => {
                let new = Self::Value::from_word(next_on_circle($operand.to_word()));
                match $atomic.compare_exchange($operand, new, Ordering::$order, Ordering::$failure)
                {
                    Ok(old) => (old, SUCCESS),
                    Err(other) => (other, FAILURE),
                }
            }
        }
    };
}

/// A scope, with an atomic type for each type of value.
pub trait Scope<T> {
    /// The type.
    type Atomic: Atomic<Value = T>;
}

/// `BlockAtomic*`.
pub struct Block;

/// `Atomic*`.
pub struct Device;

/// `SystemAtomic*`.
pub struct System;

atomics! {
    Device: AtomicI32: i32;
    Device: AtomicU32: u32;
    Device: AtomicF32: f32;
    Device: AtomicI64: i64;
    Device: AtomicU64: u64;
    Device: AtomicF64: f64;
    Block: BlockAtomicI32: i32;
    Block: BlockAtomicU32: u32;
    Block: BlockAtomicF32: f32;
    Block: BlockAtomicI64: i64;
    Block: BlockAtomicU64: u64;
    Block: BlockAtomicF64: f64;
    System: SystemAtomicI32: i32;
    System: SystemAtomicU32: u32;
    System: SystemAtomicF32: f32;
    System: SystemAtomicI64: i64;
    System: SystemAtomicU64: u64;
    System: SystemAtomicF64: f64;
}
