//! What `print!` becomes: a format of C, made at compile time from the pieces in the source and the types of
//! the values, and the values, 64 bits each, in the order and the layout in which `vprintf` reads them.
//!
//! Safe: a format has as many conversions as there are values, and the conversion of each is its form's. Only
//! the types here have forms, and only this module makes values of them.

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

/// What the source says, as a type, so that the format is made at compile time.
pub trait Format {
    const PIECES: &'static [Piece];
}

/// A part of a format.
pub enum Piece {
    /// As it is printed.
    Text(&'static str),
    /// The next value.
    Value(Spec),
}

/// How a value is printed.
pub struct Spec {
    /// Aligned left or right; by its type where nothing is said.
    pub left: Option<bool>,
    /// With a sign.
    pub plus: bool,
    /// Zeros instead of spaces before the digits.
    pub zeros: bool,
    pub width: u32,
    pub precision: Option<u32>,
}

/// How the 64 bits of a value are printed.
pub trait Form: Sealed {
    /// The end of C's conversion, after flags and width.
    const CONVERSION: &'static str;
    /// Whether it stands on the left.
    const IS_TEXT: bool = false;

    /// What `vprintf` gets for a value that is held here.
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
    // As many digits as tell the numbers of the type apart.
    Digits4 = ".4g";
    Digits5 = ".5g";
    Digits9 = ".9g";
    Digits17 = ".17g";
    Fixed = "f";
    Exponent = "e";
    UpperExponent = "E";
}

/// The address of a text that ends in a zero.
pub struct Text;

impl Sealed for Text {}
impl Form for Text {
    const CONVERSION: &'static str = "s";
    const IS_TEXT: bool = true;
}

/// The text itself, which ends in a zero: at most seven bytes before it.
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

/// A value, where it can be pointed at. It may point at what it has been made from.
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

    /// The value, and where it is held if it is printed from there.
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

/// Values in the order in which they are printed. All of them have 64 bits, so they lie one behind another,
/// each where C's rules of alignment have it.
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
    // SAFETY: the format ends in a zero, and has a conversion for each value in the list, made for the value's
    // form; a form is that of the type which it has been made from. The list's layout is that of C's arguments:
    // 64 bits each. A text's address is that of a text which ends in a zero and lives as long as its value,
    // which the list borrows.
    unsafe { arch::print(format.as_ptr().cast::<c_char>(), values) }
}

/// C's format and the zeros behind it.
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
                    panic!("the format has more places than there are values");
                };
                text.value(spec, form);
                forms = form.next;
            }
        }
        i += 1;
    }
    assert!(forms.is_none(), "there are more values than the format has");
    assert!(text.len < LENGTH, "the format ends in a zero");
    text.bytes
}

struct Buffer<const LENGTH: usize> {
    bytes: [u8; LENGTH],
    len: usize,
}

impl<const LENGTH: usize> Buffer<LENGTH> {
    const fn byte(&mut self, byte: u8) {
        assert!(byte != 0, "a text to print has no character 0");
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

/// What `{}` prints.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed by a kernel",
    label = "a GPU prints numbers up to 64 bits, `bool`, `char`, string literals and `CStr`",
    note = "a text that is no literal must end in a zero: `c\"text\"`; `cuda_std::io` lists what can be printed"
)]
pub trait Print {
    type Form: Form;
    fn hold(&self) -> Held<'_, Self::Form>;
}

/// What `{:08}` prints.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number that a kernel can print",
    note = "only numbers are padded with zeros; `cuda_std::io` lists what can be printed"
)]
pub trait Number: Print {}

/// What `{:+}` prints.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is printed without a sign",
    note = "signed integers and floats can have a `+`; `cuda_std::io` lists what can be printed"
)]
pub trait Sign: Print {}

/// What `{:x}`, `{:X}` and `{:o}` print.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer that a kernel can print",
    note = "integers up to 64 bits are printed as hexadecimal and octal numbers"
)]
pub trait Integer {
    fn bits(&self) -> u64;
}

/// What `{:.3}` and `{:.3e}` print.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no float that a kernel can print",
    note = "only floats have a precision or an exponent"
)]
pub trait Float {
    fn double(&self) -> f64;
}

/// What `{:p}` prints.
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

/// As `vprintf` gets it: a NaN without its sign, which C's libraries print and processors choose.
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
