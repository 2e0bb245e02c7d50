//! The macros behind the tables, and the lists that they make of them.

/// The product of two lists: every row of kernels for every `operator element`, as entry points
/// and as rows of a table. In brackets stands what the kernel needs of its launch. Inside a row,
/// `T` and `O` are the element and the operator; output and scratch hold the operator's
/// accumulators. Before each list stands the family: an element of a family is a module of PTX.
macro_rules! entries {
    ($table:ident in $($family:ident: [$($op:ident $element:ident),*]),+ x $kernels:tt) => {
        $($(entries!(@functions $family $op $element $kernels);)*)+

        const $table: &[&[Entry]] = &[$($(entries!(@rows $family $op $element $kernels),)*)+];
    };

    (@functions $family:ident $op:ident $element:ident {
        |$input:ident, $output:ident, $scratch:ident|
        $($kernel:ident [$needs:expr] = $body:expr;)*
    }) => { pastey::paste! {
        $(
            #[doc = concat!("The entry `", stringify!($kernel), "` of `", stringify!($element), "` by [`", stringify!($op), "`].")]
            ///
            /// # Safety
            ///
            /// The launch is as the kernel's generic body asks.
            #[cfg(any(feature = "simulator", target_arch = "nvptx64"))]
            #[kernel(module = [<$family _ $element>])]
            pub unsafe fn [<$kernel _ $op:snake _ $element>](
                input: &[$element],
                output: *mut <$op as crate::op::Op<$element>>::Acc,
                output_len: usize,
            ) {
                type T = $element;
                type O = $op;
                type Acc = <O as crate::op::Op<T>>::Acc;
                // SAFETY: whoever launches the entry vouches for its arguments and for what the
                // body, documented where it stands, does with them.
                unsafe {
                    let $input = Global::<T>::from_slice(input);
                    let $output = Global::<Acc>::new(output, output_len);
                    #[allow(unused_variables, reason = "not every kernel needs scratch")]
                    let $scratch = Shared::<Acc>::dynamic();
                    $body
                }
            }
        )*
    }};

    (@rows $family:ident $op:ident $element:ident {
        |$input:ident, $output:ident, $scratch:ident|
        $($kernel:ident [$needs:expr] = $body:expr;)*
    }) => { pastey::paste! {
        &[$(Entry {
            name: stringify!([<$kernel _ $op:snake _ $element>]),
            module: stringify!([<$family _ $element>]),
            kernel: stringify!($kernel),
            op: stringify!([<$op:snake>]),
            element: stringify!($element),
            element_bytes: size_of::<$element>(),
            acc_bytes: size_of::<<$op as crate::op::Op<$element>>::Acc>(),
            needs: $needs,
            #[cfg(feature = "simulator")]
            function: |input, input_len, output, output_len| {
                // SAFETY: `Function`'s contract.
                unsafe {
                    let input = core::slice::from_raw_parts(input.cast::<$element>(), input_len);
                    [<$kernel _ $op:snake _ $element>](input, output.cast(), output_len)
                }
            },
        }),*]
    }};
}

/// The rows of several tables, which hold lists of rows, as one list.
macro_rules! flat {
    ($($table:expr),+ $(,)?) => {{
        const LEN: usize = crate::entry::product::count(&[$($table),+]);
        &crate::entry::product::flatten::<_, LEN>(&[$($table),+])
    }};
}

/// The [`Family`](crate::entry::Family) of the file of this name, whose `ENTRIES` have a `name` and
/// a `module` each.
macro_rules! family {
    ($family:ident) => {
        crate::entry::Family {
            name: stringify!($family),
            symbols: &{
                let mut symbols = [crate::entry::Symbol {
                    name: "",
                    module: "",
                }; $family::ENTRIES.len()];
                let mut i = 0;
                while i < symbols.len() {
                    let entry = &$family::ENTRIES[i];
                    symbols[i] = crate::entry::Symbol {
                        name: entry.name,
                        module: entry.module,
                    };
                    i += 1;
                }
                symbols
            },
        }
    };
}

/// How many rows `tables` have.
pub(super) const fn count<E>(tables: &[&[&[E]]]) -> usize {
    let (mut total, mut t) = (0, 0);
    while t < tables.len() {
        let mut g = 0;
        while g < tables[t].len() {
            total += tables[t][g].len();
            g += 1;
        }
        t += 1;
    }
    total
}

/// The rows of `tables`, which are `LEN` and at least one.
pub(super) const fn flatten<E: Copy, const LEN: usize>(tables: &[&[&[E]]]) -> [E; LEN] {
    let mut all = [first(tables); LEN];
    let (mut len, mut t) = (0, 0);
    while t < tables.len() {
        let mut g = 0;
        while g < tables[t].len() {
            let mut e = 0;
            while e < tables[t][g].len() {
                all[len] = tables[t][g][e];
                len += 1;
                e += 1;
            }
            g += 1;
        }
        t += 1;
    }
    all
}

const fn first<E: Copy>(tables: &[&[&[E]]]) -> E {
    let mut t = 0;
    while t < tables.len() {
        let mut g = 0;
        while g < tables[t].len() {
            if let [first, ..] = tables[t][g] {
                return *first;
            }
            g += 1;
        }
        t += 1;
    }
    panic!("the tables are empty")
}
