//! Tests that the library's operators obey the laws, for every element type and on special values, and that
//! their results are right.

mod answers;
mod floats;
mod integers;
mod numpy;

/// A test for each line: `max: Max, items;`, or with an option `sum: Sum, items, .tolerance(1e-5);`.
macro_rules! keep_the_laws {
    ($($name:ident: $op:expr, $items:expr $(, .$option:ident($($argument:tt)*))?;)*) => { $(
        #[test]
        fn $name() {
            kernels_gpu::laws::of(&$op, $items)$(.$option($($argument)*))?.check();
        }
    )* };
}

use keep_the_laws;
