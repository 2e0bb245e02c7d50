//! Fully unrolled loops over arrays.

/// Evaluates an expression for every element of an array of `K` rows of `N`, at most 4 of 16, row by row, fully
/// unrolled: `unrolled!(|k < K, e < N| sum += rows[k][e])`.
///
/// Registers cannot be indexed. If LLVM does not unroll a loop over an array, because its body is large, the
/// array goes to local memory. So on the GPU this macro expands to straight-line code, and elements that the
/// array lacks are not even compiled. Each `match` is on a constant and has numbers as arms: for a condition,
/// `if const { e < N }`, rustc would evaluate a constant in every kernel, which took a quarter of its time.
///
/// For an array without rows, of at most 32 elements: `unrolled!(|e < N| sum += row[e])`.
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
                // If an array's length is a number, an index beyond it is an error even in code that is not
                // reached.
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

/// The same for the host: a loop, because arrays are in memory anyway.
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
