//! Fully unrolled loops over arrays.

/// Does something for every element of an array of `K` rows of `N`, at most 4 of 16, row by row:
/// `unrolled!(|k < K, e < N| sum += rows[k][e])`.
///
/// The GPU's registers have no indexes. An array in a loop that LLVM does not unroll, because much is
/// done in it, goes to local memory. So on the GPU this is straight code, whatever is done; what is not
/// of the array is not even compiled. Each `match` is of a constant, and its arms are numbers: of a
/// condition, `if const { e < N }`, rustc makes a constant of its own in every kernel, which took it a quarter
/// of its time.
///
/// Of an array without rows, at most 32: `unrolled!(|e < N| sum += row[e])`.
#[cfg(target_arch = "nvptx64")]
macro_rules! unrolled {
    (|$k:ident < $rows:ident, $e:ident < $elements:ident| $body:expr) => {
        unrolled!(@rows [0 1 2 3] $k $rows $e $elements $body)
    };

    (|$e:ident < $($elements:ident)::+| $body:expr) => {
        unrolled!(
            @row [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31] $e ($($elements)::+) $body
        )
    };

    (@rows [$row:literal $($more:literal)*] $k:ident $rows:ident $e:ident $elements:tt $body:expr) => {
        match $rows {
            $row => {}
            _ => {
                let $k = $row;
                unrolled!(@row [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] $e $elements $body);
                unrolled!(@rows [$($more)*] $k $rows $e $elements $body);
            }
        }
    };

    (@row [$element:literal $($more:literal)*] $e:ident $elements:tt $body:expr) => {
        match $elements {
            $element => {}
            _ => {
                let $e = $element;
                // Where an array's length is a number, an index beyond it is an error even here.
                #[allow(unconditional_panic, reason = "not reached: the condition is a constant")]
                {
                    $body;
                }
                unrolled!(@row [$($more)*] $e $elements $body);
            }
        }
    };

    (@rows [] $($rest:tt)*) => {};
    (@row [] $($rest:tt)*) => {};
}

/// The same for the host, which has memory: a loop.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! unrolled {
    (|$k:ident < $rows:ident, $e:ident < $elements:ident| $body:expr) => {
        for $k in 0..$rows {
            for $e in 0..$elements {
                $body;
            }
        }
    };

    (|$e:ident < $($elements:ident)::+| $body:expr) => {
        for $e in 0..$($elements)::+ {
            $body;
        }
    };
}

pub(crate) use unrolled;
