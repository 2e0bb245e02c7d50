//! The expansion of `print!`: a C format, and the values. The format is built at compile time from the pieces
//! in the source and the types of the values. The values have 64 bits each, in the order and the layout that
//! `vprintf` expects.
//!
//! This is safe: a format has one conversion for each value, and the value's form determines the conversion.
//! Only the types here have forms, and only this module constructs values of them.

use core::ffi::{CStr, c_char};
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use half::{bf16, f16};

use crate::arch;
use crate::float16::Float16;

mod sealed {
    pub trait Sealed {}
}

use sealed::Sealed;

/// The pieces of the format in the source, as a type, so that the C format is built at compile time.
pub trait Format {
    const PIECES: &'static [Piece];
}

/// A piece of a format.
pub enum Piece {
    /// Literal text.
    Text(&'static str),
    /// The next value.
    Value(Spec),
}

/// How a value is printed.
pub struct Spec {
    /// Alignment to the left or right; `None` for the type's default.
    pub left: Option<bool>,
    /// Whether a sign is always printed.
    pub plus: bool,
    /// Whether to pad with zeros instead of spaces.
    pub zeros: bool,
    pub width: u32,
    pub precision: Option<u32>,
}

/// How the 64 bits of a value are printed.
pub trait Form: Sealed {
    /// The end of C's conversion, after flags and width.
    const CONVERSION: &'static str;
    /// Whether it is aligned left by default.
    const IS_TEXT: bool = false;

    /// The value for `vprintf`, borrowed from a value that is stored here.
    #[inline(always)]
    fn argument(held: &u64) -> u64 {
        *held
    }
}

macro_rules! forms {
    ($($name:ident = $conversion:literal;)*) => { $(
        pub struct $name;
        impl Sealed for $name {}
        impl Form for $name {
            const CONVERSION: &'static str = $conversion;
        }
    )* };
}

forms! {
    Signed = "lld";
    Unsigned = "llu";
    Hex = "llx";
    UpperHex = "llX";
    Octal = "llo";
    // Enough digits to distinguish all numbers of the type.
    Digits4 = ".4g";
    Digits5 = ".5g";
    Digits9 = ".9g";
    Digits17 = ".17g";
    Fixed = "f";
    Exponent = "e";
    UpperExponent = "E";
}

/// The address of a zero-terminated text.
pub struct Text;

impl Sealed for Text {}
impl Form for Text {
    const CONVERSION: &'static str = "s";
    const IS_TEXT: bool = true;
}

/// A zero-terminated text of at most seven bytes, stored in the value itself.
pub struct ShortText;

impl Sealed for ShortText {}
impl Form for ShortText {
    const CONVERSION: &'static str = "s";
    const IS_TEXT: bool = true;

    #[inline(always)]
    fn argument(held: &u64) -> u64 {
        ptr::from_ref(held).expose_provenance() as u64
    }
}

/// A value in memory, possibly with a reference to its source.
pub struct Held<'a, F> {
    bits: u64,
    from: PhantomData<(&'a u8, F)>,
}

impl<F: Form> Held<'_, F> {
    #[inline(always)]
    const fn new(bits: u64) -> Self {
        Self {
            bits,
            from: PhantomData,
        }
    }

    /// The value, and its address if it is printed from memory.
    #[inline(always)]
    pub fn argument(&self) -> Argument<'_, F> {
        Argument {
            bits: F::argument(&self.bits),
            held: PhantomData,
        }
    }
}

/// A value as `vprintf` reads it.
#[repr(transparent)]
pub struct Argument<'a, F> {
    bits: u64,
    held: PhantomData<&'a Held<'a, F>>,
}

/// The values in the order of printing. Each has 64 bits, so their layout is that of C's arguments.
#[repr(C)]
pub struct List<'a, F, T>(pub Argument<'a, F>, pub T);

/// The end of the list.
#[repr(C)]
pub struct Nil;

/// The forms of the values in a list.
pub struct Forms {
    conversion: &'static str,
    is_text: bool,
    next: Option<&'static Forms>,
}

/// A list.
pub trait Arguments: Sealed {
    const FORMS: Option<&'static Forms>;
}

impl Sealed for Nil {}
impl Arguments for Nil {
    const FORMS: Option<&'static Forms> = None;
}

impl<F: Form, T: Arguments> Sealed for List<'_, F, T> {}
impl<F: Form, T: Arguments> Arguments for List<'_, F, T> {
    const FORMS: Option<&'static Forms> = Some(&Forms {
        conversion: F::CONVERSION,
        is_text: F::IS_TEXT,
        next: T::FORMS,
    });
}

/// Prints `arguments`; the format has fewer than `LENGTH` bytes.
#[inline(always)]
pub fn write<F: Format, A: Arguments, const LENGTH: usize>(arguments: A) {
    let format: &'static [u8; LENGTH] = const { &format::<F, A, LENGTH>() };
    let values = match A::FORMS {
        Some(_) => ptr::from_ref(&arguments).cast(),
        None => ptr::null(),
    };
    // SAFETY: the format is zero-terminated and has a conversion for each value in the list, chosen by the
    // value's form. Only the type of a form can construct it. The list has the layout of C's arguments, 64
    // bits each. The address of a text points to a zero-terminated text that lives as long as its value,
    // which the list borrows.
    unsafe { arch::print(format.as_ptr().cast::<c_char>(), values) }
}

/// C's format, padded with zeros.
const fn format<F: Format, A: Arguments, const LENGTH: usize>() -> [u8; LENGTH] {
    let mut text = Buffer {
        bytes: [0; LENGTH],
        len: 0,
    };
    let mut forms = A::FORMS;
    let mut i = 0;
    while i < F::PIECES.len() {
        match &F::PIECES[i] {
            Piece::Text(piece) => text.text(piece),
            Piece::Value(spec) => {
                let Some(form) = forms else {
                    panic!("the format has more placeholders than there are values");
                };
                text.value(spec, form);
                forms = form.next;
            }
        }
        i += 1;
    }
    assert!(
        forms.is_none(),
        "there are more values than placeholders in the format"
    );
    assert!(text.len < LENGTH, "the format must end in a zero");
    text.bytes
}

struct Buffer<const LENGTH: usize> {
    bytes: [u8; LENGTH],
    len: usize,
}

impl<const LENGTH: usize> Buffer<LENGTH> {
    const fn byte(&mut self, byte: u8) {
        assert!(
            byte != 0,
            "a text to print must not contain the character 0"
        );
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    const fn text(&mut self, text: &str) {
        let mut i = 0;
        while i < text.len() {
            let byte = text.as_bytes()[i];
            if byte == b'%' {
                self.byte(byte);
            }
            self.byte(byte);
            i += 1;
        }
    }

    const fn value(&mut self, spec: &Spec, form: &Forms) {
        self.byte(b'%');
        let left = match spec.left {
            Some(left) => left,
            None => form.is_text && spec.width > 0,
        };
        if left {
            self.byte(b'-');
        }
        if spec.plus {
            self.byte(b'+');
        }
        if spec.zeros {
            self.byte(b'0');
        }
        if spec.width > 0 {
            self.number(spec.width);
        }
        if let Some(digits) = spec.precision {
            self.byte(b'.');
            self.number(digits);
        }
        self.text(form.conversion);
    }

    const fn number(&mut self, number: u32) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.byte(b'0' + (number % 10) as u8);
    }
}

/// Values for `{}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed by a kernel",
    label = "a GPU prints numbers up to 64 bits, `bool`, `char`, string literals and `CStr`",
    note = "a text that is not a literal must end in a zero: `c\"text\"`; `cuda_std::io` lists what can be printed"
)]
pub trait Print {
    type Form: Form;
    fn hold(&self) -> Held<'_, Self::Form>;
}

/// Values for `{:08}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that a kernel can print",
    note = "only numbers are padded with zeros; `cuda_std::io` lists what can be printed"
)]
pub trait Number: Print {}

/// Values for `{:+}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed with a sign",
    note = "signed integers and floats can have a `+`; `cuda_std::io` lists what can be printed"
)]
pub trait Sign: Print {}

/// Values for `{:x}`, `{:X}` and `{:o}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer that a kernel can print",
    note = "integers up to 64 bits can be printed as hexadecimal and octal numbers"
)]
pub trait Integer {
    fn bits(&self) -> u64;
}

/// Values for `{:.3}` and `{:.3e}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a float that a kernel can print",
    note = "only floats have a precision or an exponent"
)]
pub trait Float {
    fn double(&self) -> f64;
}

/// Values for `{:p}`.
#[diagnostic::on_unimplemented(message = "`{Self}` is no pointer")]
pub trait Pointer {
    fn address(&self) -> u64;
}

macro_rules! integers {
    ($form:ident as $wide:ty: $($ty:ty as $unsigned:ty,)*) => { $(
        impl Print for $ty {
            type Form = $form;
            #[inline(always)]
            fn hold(&self) -> Held<'_, $form> {
                Held::new(*self as $wide as u64)
            }
        }
        impl Number for $ty {}
        impl Integer for $ty {
            #[inline(always)]
            fn bits(&self) -> u64 {
                *self as $unsigned as u64
            }
        }
    )* };
}

integers!(Signed as i64: i8 as u8, i16 as u16, i32 as u32, i64 as u64, isize as usize,);
integers!(Unsigned as u64: u8 as u8, u16 as u16, u32 as u32, u64 as u64, usize as usize,);

macro_rules! floats {
    ($($ty:ty = $form:ident, |$value:ident| $double:expr;)*) => { $(
        impl Print for $ty {
            type Form = $form;
            #[inline(always)]
            fn hold(&self) -> Held<'_, $form> {
                Held::new(bits(self.double()))
            }
        }
        impl Number for $ty {}
        impl Sign for $ty {}
        impl Float for $ty {
            #[inline(always)]
            fn double(&self) -> f64 {
                let $value = *self;
                $double
            }
        }
    )* };
}

floats! {
    f16 = Digits5, |x| x.widen().into();
    bf16 = Digits4, |x| x.widen().into();
    f32 = Digits9, |x| x.into();
    f64 = Digits17, |x| x;
}

/// The bits for `vprintf`; a NaN loses its sign, because C libraries print it and processors choose it
/// arbitrarily.
#[inline(always)]
fn bits(x: f64) -> u64 {
    match x.is_nan() {
        true => 0x7FF8_0000_0000_0000,
        false => x.to_bits(),
    }
}

macro_rules! signed {
    ($($ty:ty)*) => { $(impl Sign for $ty {})* };
}

signed!(i8 i16 i32 i64 isize);

impl Print for bool {
    type Form = Text;
    #[inline(always)]
    fn hold(&self) -> Held<'_, Text> {
        match self {
            true => c"true".hold(),
            false => c"false".hold(),
        }
    }
}

impl Print for char {
    type Form = ShortText;
    #[inline(always)]
    fn hold(&self) -> Held<'_, ShortText> {
        let mut bytes = [0; 8];
        self.encode_utf8(&mut bytes);
        Held::new(u64::from_ne_bytes(bytes))
    }
}

impl Print for CStr {
    type Form = Text;
    #[inline(always)]
    fn hold(&self) -> Held<'_, Text> {
        Held::new(self.as_ptr().expose_provenance() as u64)
    }
}

impl<T: ?Sized> Pointer for *const T {
    #[inline(always)]
    fn address(&self) -> u64 {
        self.addr() as u64
    }
}

impl<T: ?Sized> Pointer for *mut T {
    #[inline(always)]
    fn address(&self) -> u64 {
        self.addr() as u64
    }
}

impl<T: ?Sized> Pointer for NonNull<T> {
    #[inline(always)]
    fn address(&self) -> u64 {
        self.addr().get() as u64
    }
}

impl<T: ?Sized> Pointer for &T {
    #[inline(always)]
    fn address(&self) -> u64 {
        ptr::from_ref(*self).addr() as u64
    }
}

impl<T: ?Sized> Pointer for &mut T {
    #[inline(always)]
    fn address(&self) -> u64 {
        ptr::from_ref(*self).addr() as u64
    }
}

macro_rules! referred {
    ($($reference:ty),*) => { $(
        impl<T: Print + ?Sized> Print for $reference {
            type Form = T::Form;
            #[inline(always)]
            fn hold(&self) -> Held<'_, T::Form> {
                T::hold(self)
            }
        }
        impl<T: Number + ?Sized> Number for $reference {}
        impl<T: Sign + ?Sized> Sign for $reference {}
        impl<T: Integer + ?Sized> Integer for $reference {
            #[inline(always)]
            fn bits(&self) -> u64 {
                T::bits(self)
            }
        }
        impl<T: Float + ?Sized> Float for $reference {
            #[inline(always)]
            fn double(&self) -> f64 {
                T::double(self)
            }
        }
    )* };
}

referred!(&T, &mut T);

macro_rules! holds {
    ($($name:ident<$bound:ident> -> $form:ty = |$value:ident| $held:expr;)*) => { $(
        #[inline(always)]
        pub fn $name<T: $bound + ?Sized>($value: &T) -> Held<'_, $form> {
            $held
        }
    )* };
}

holds! {
    display<Print> -> T::Form = |x| x.hold();
    number<Number> -> T::Form = |x| x.hold();
    signed<Sign> -> T::Form = |x| x.hold();
    hex<Integer> -> Hex = |x| Held::new(x.bits());
    upper_hex<Integer> -> UpperHex = |x| Held::new(x.bits());
    octal<Integer> -> Octal = |x| Held::new(x.bits());
    fixed<Float> -> Fixed = |x| Held::new(bits(x.double()));
    exponent<Float> -> Exponent = |x| Held::new(bits(x.double()));
    upper_exponent<Float> -> UpperExponent = |x| Held::new(bits(x.double()));
    pointer<Pointer> -> Hex = |x| Held::new(x.address());
}
