//! The entries of [`single_pass`](crate::single_pass): `single_pass_<operator>_<element>`, as
//! `single_pass_sum_i32`, and among the operators `dot` and `count_less`. After what they read, their
//! parameters are those of the [`Meeting`]:
//!
//! ```text
//! input: *const T, input_len: u64,                                  an operator
//! a: *const T, a_len: u64, b: *const T, b_len: u64,                 dot
//! input: *const T, input_len: u64, value: T,                        count_...
//!
//!     partials: *mut u64, partials_len: u64, tickets: *mut u32, result: *mut Acc
//! ```

use crate::element::{Number, bf16, f16};
use crate::grid::Meeting;
use crate::mem::{Global, Partials, Shared};
use crate::op::{
    And, ArgMax, ArgMin, Equal, Greater, IsNan, Less, Max, MeanVariance, Min, MinMax, NanMax,
    NanMin, Op, Or, Product, Sum, SumAbs, SumSquares, SumWide, Wide, Xor,
};
use crate::single_pass::{single_pass, single_pass_count, single_pass_dot};
use cuda_std::{kernel, launch_bounds};

#[cfg(feature = "simulator")]
pub use super::Arguments;

/// An entry point on the host, whatever its types.
///
/// # Safety
///
/// All arrays are there, aligned and of the entry's types, and as long as the arguments say; the rest is
/// as the kernel's generic body asks.
#[cfg(feature = "simulator")]
pub type Function = unsafe fn(&Arguments);

/// All single passes.
pub const ENTRIES: &[SinglePassEntry] = flat!(COMMON, OTHERS, DOTS, COUNTS);

/// One entry point that reduces in a single pass.
#[derive(Clone, Copy, Debug)]
pub struct SinglePassEntry {
    /// The symbol in the module: `"single_pass_sum_i32"`.
    pub name: &'static str,
    /// The module of PTX that has it: `"single_pass_i32"`.
    pub module: &'static str,
    /// What is done: `"sum"`, [`Op::NAME`]; `"dot"`; `"count_less"`.
    pub op: &'static str,
    /// The element type: `"i32"`.
    pub element: &'static str,
    /// How many bytes an element has.
    pub element_bytes: usize,
    /// How many bytes the result has.
    pub acc_bytes: usize,
    /// What it reads.
    pub reads: Reads,
    /// The very function that the module's entry was made from, for simulators.
    #[cfg(feature = "simulator")]
    pub function: Function,
}

/// What a single pass reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// An array.
    One,
    /// Two arrays as long as one another.
    Two,
    /// An array, and a value beside it.
    OneAndValue,
}

impl SinglePassEntry {
    /// What the kernels of the family are called, whatever they read.
    pub const KERNEL: &'static str = "single_pass";

    /// How many elements a load brings: 16 bytes.
    pub const fn load_elements(&self) -> usize {
        WIDEST / self.element_bytes
    }

    /// The words of a partial, in bytes: each word carries half as many of the value.
    pub const fn partial_bytes(&self) -> usize {
        2 * self.acc_bytes
    }

    /// The dynamic shared memory of a block, in bytes.
    pub const fn shared_bytes(&self, threads: u32) -> usize {
        (threads / crate::warp::WARP_SIZE) as usize * self.acc_bytes
    }
}

/// Bytes of a load.
const WIDEST: usize = 16;

/// Elements of a load.
const fn vector<T>() -> usize {
    WIDEST / size_of::<T>()
}

/// Threads of the largest block.
///
/// Where this is said, and that one such block on a multiprocessor is enough, ptxas has 64 registers to
/// spend on each of 1024 threads. Otherwise it saves them for a second block, by loads that begin only when
/// the values of others are used up. Moments do not fit into 64.
#[cfg(target_arch = "nvptx64")]
const fn most_threads<A>() -> u32 {
    if size_of::<A>() > WIDEST { 512 } else { 1024 }
}

/// The meeting that an entry's parameters describe.
///
/// # Safety
///
/// As [`Meeting`] asks.
#[inline(always)]
unsafe fn meeting<A: crate::element::Element>(
    partials: *mut u64,
    partials_len: usize,
    tickets: *mut u32,
    result: *mut A,
) -> Meeting<A> {
    // SAFETY: the caller's contract.
    unsafe {
        Meeting {
            partials: Partials::new(partials, partials_len),
            tickets: Global::new(tickets, 1),
            result: Global::new(result, 1),
            scratch: Shared::dynamic(),
        }
    }
}

/// For every `operator element` of the lists an entry point and its row in the table. Before each list
/// stands the module; an element of it is a module of PTX.
macro_rules! single_passes {
    ($table:ident by $kind:ident in $($module:ident: [$($op:ident $element:ident),*]),+) => {
        $($($kind!(function $module $op $element);)*)+

        const $table: &[&[SinglePassEntry]] = &[$($(&[$kind!(row $module $op $element)],)*)+];
    };
}

/// An entry point: what it reads, and the body that is given that and the meeting.
macro_rules! function {
    ($module:ident $element:ident, $name:ident ($($parameter:ident: $ty:ty),*) -> $acc:ty, $body:expr) => {
        pastey::paste! {
            #[doc = concat!("The entry `", stringify!($name), "`.")]
            ///
            /// # Safety
            ///
            /// The launch is as the kernel's generic body asks.
            #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
            #[kernel(module = [<$module _ $element>])]
            #[launch_bounds(max_threads = most_threads::<$acc>(), min_blocks = 1)]
            pub unsafe fn $name(
                $($parameter: $ty,)*
                partials: *mut u64,
                partials_len: usize,
                tickets: *mut u32,
                result: *mut $acc,
            ) {
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body, documented where it stands, does with them.
                unsafe { ($body)(meeting(partials, partials_len, tickets, result)) }
            }
        }
    };
}

/// A row: which function with which of the arguments.
macro_rules! row {
    ($module:ident $element:ident, $name:ident, $op:expr, $acc:ty, $reads:ident, |$x:ident| $($argument:expr),*) => {
        pastey::paste! {
            SinglePassEntry {
                name: stringify!($name),
                module: stringify!([<$module _ $element>]),
                op: $op,
                element: stringify!($element),
                element_bytes: size_of::<$element>(),
                acc_bytes: size_of::<$acc>(),
                reads: Reads::$reads,
                #[cfg(feature = "simulator")]
                function: |$x| {
                    // SAFETY: whoever calls a row's function vouches for its arguments.
                    unsafe {
                        $name(
                            $($argument,)*
                            $x.partials,
                            $x.partials_len,
                            $x.tickets,
                            $x.result.cast(),
                        )
                    }
                },
            }
        }
    };
}

/// What an operator makes of an array.
macro_rules! operator {
    (function $module:ident $op:ident $element:ident) => { pastey::paste! {
        function!(
            $module $element,
            [<single_pass_ $op:snake _ $element>](input: &[$element]) -> <$op as Op<$element>>::Acc,
            |meeting| single_pass::<$element, $op, { vector::<$element>() }>(
                Global::from_slice(input),
                meeting,
            )
        );
    } };

    (row $module:ident $op:ident $element:ident) => { pastey::paste! {
        row!(
            $module $element, [<single_pass_ $op:snake _ $element>],
            <$op as Op<$element>>::NAME, <$op as Op<$element>>::Acc, One,
            |x| core::slice::from_raw_parts(x.input.cast(), x.len)
        )
    } };
}

/// The sum of the products of two arrays.
macro_rules! dot {
    (function $module:ident $op:ident $element:ident) => {
        pastey::paste! {
            function!(
                $module $element,
                [<single_pass_dot_ $element>](a: &[$element], b: &[$element]) -> Products<$element>,
                |meeting| single_pass_dot::<$element, _, _, { vector::<$element>() }>(
                    Global::from_slice(a),
                    Global::from_slice(b),
                    meeting,
                )
            );
        }
    };

    (row $module:ident $op:ident $element:ident) => {
        pastey::paste! {
            row!(
                $module $element, [<single_pass_dot_ $element>],
                "dot", Products<$element>, Two,
                |x| core::slice::from_raw_parts(x.input.cast(), x.len),
                    core::slice::from_raw_parts(x.other.cast(), x.len)
            )
        }
    };
}

/// For how many elements a predicate holds.
macro_rules! count {
    (function $module:ident $predicate:ident $element:ident) => { pastey::paste! {
        function!(
            $module $element,
            [<single_pass_count_ $predicate:snake _ $element>](input: &[$element], value: $element) -> u64,
            |meeting| single_pass_count::<$element, $predicate, { vector::<$element>() }>(
                Global::from_slice(input),
                value,
                meeting,
            )
        );
    } };

    (row $module:ident $predicate:ident $element:ident) => { pastey::paste! {
        row!(
            $module $element, [<single_pass_count_ $predicate:snake _ $element>],
            concat!("count_", stringify!([<$predicate:snake>])), u64, OneAndValue,
            |x| core::slice::from_raw_parts(x.input.cast(), x.len), *x.value.cast::<$element>()
        )
    } };
}

/// What products of `T` are added in.
type Products<T> = <<T as Number>::Acc as Wide>::Wide;

single_passes!(COMMON by operator in
single_pass: [
    Sum i8, Sum i16, Sum i32, Sum i64, Sum u8, Sum u16, Sum u32, Sum u64,
    Sum f16, Sum bf16, Sum f32, Sum f64,
    Min i8, Min i16, Min i32, Min i64, Min u8, Min u16, Min u32, Min u64,
    Min f16, Min bf16, Min f32, Min f64,
    Max i8, Max i16, Max i32, Max i64, Max u8, Max u16, Max u32, Max u64,
    Max f16, Max bf16, Max f32, Max f64
]);

single_passes!(OTHERS by operator in
single_pass_others: [
    SumWide i8, SumWide i16, SumWide i32, SumWide i64,
    SumWide u8, SumWide u16, SumWide u32, SumWide u64,
    SumWide f16, SumWide bf16, SumWide f32, SumWide f64,
    Product i8, Product i16, Product i32, Product i64,
    Product u8, Product u16, Product u32, Product u64,
    Product f16, Product bf16, Product f32, Product f64,
    NanMin f16, NanMin bf16, NanMin f32, NanMin f64,
    NanMax f16, NanMax bf16, NanMax f32, NanMax f64,
    MinMax i8, MinMax i16, MinMax i32, MinMax i64,
    MinMax u8, MinMax u16, MinMax u32, MinMax u64,
    MinMax f16, MinMax bf16, MinMax f32, MinMax f64,
    And i8, And i16, And i32, And i64, And u8, And u16, And u32, And u64,
    Or i8, Or i16, Or i32, Or i64, Or u8, Or u16, Or u32, Or u64,
    Xor i8, Xor i16, Xor i32, Xor i64, Xor u8, Xor u16, Xor u32, Xor u64
],
single_pass_others: [
    ArgMin i8, ArgMin i16, ArgMin i32, ArgMin i64,
    ArgMin u8, ArgMin u16, ArgMin u32, ArgMin u64,
    ArgMin f16, ArgMin bf16, ArgMin f32, ArgMin f64,
    ArgMax i8, ArgMax i16, ArgMax i32, ArgMax i64,
    ArgMax u8, ArgMax u16, ArgMax u32, ArgMax u64,
    ArgMax f16, ArgMax bf16, ArgMax f32, ArgMax f64
],
single_pass_others: [
    SumAbs i8, SumAbs i16, SumAbs i32, SumAbs i64,
    SumAbs u8, SumAbs u16, SumAbs u32, SumAbs u64,
    SumAbs f16, SumAbs bf16, SumAbs f32, SumAbs f64,
    SumSquares i8, SumSquares i16, SumSquares i32, SumSquares i64,
    SumSquares u8, SumSquares u16, SumSquares u32, SumSquares u64,
    SumSquares f16, SumSquares bf16, SumSquares f32, SumSquares f64,
    MeanVariance i8, MeanVariance i16, MeanVariance i32, MeanVariance i64,
    MeanVariance u8, MeanVariance u16, MeanVariance u32, MeanVariance u64,
    MeanVariance f16, MeanVariance bf16, MeanVariance f32, MeanVariance f64
]);

single_passes!(DOTS by dot in
single_pass_others: [
    Dot i8, Dot i16, Dot i32, Dot i64, Dot u8, Dot u16, Dot u32, Dot u64,
    Dot f16, Dot bf16, Dot f32, Dot f64
]);

single_passes!(COUNTS by count in
single_pass_others: [
    Equal i8, Equal i16, Equal i32, Equal i64, Equal u8, Equal u16, Equal u32, Equal u64,
    Equal f16, Equal bf16, Equal f32, Equal f64,
    Less i8, Less i16, Less i32, Less i64, Less u8, Less u16, Less u32, Less u64,
    Less f16, Less bf16, Less f32, Less f64,
    Greater i8, Greater i16, Greater i32, Greater i64,
    Greater u8, Greater u16, Greater u32, Greater u64,
    Greater f16, Greater bf16, Greater f32, Greater f64,
    IsNan f16, IsNan bf16, IsNan f32, IsNan f64
]);
