//! Access to the numbers of an element.

use half::{bf16, f16};

macro_rules! numbers {
    ($($variant:ident($number:ident))*) => {
        /// A number within an element, for reading and writing; see
        /// [`Element::numbers`](super::Element::numbers).
        #[derive(Debug)]
        pub enum NumberMut<'a> {
            $(
                #[doc = concat!("A `", stringify!($number), "`.")]
                $variant(&'a mut $number),
            )*
        }

        $(
            impl<'a> From<&'a mut $number> for NumberMut<'a> {
                fn from(number: &'a mut $number) -> Self {
                    Self::$variant(number)
                }
            }
        )*
    };
}

numbers! {
    I8(i8) I16(i16) I32(i32) I64(i64)
    U8(u8) U16(u16) U32(u32) U64(u64)
    F16(f16) Bf16(bf16) F32(f32) F64(f64)
}
