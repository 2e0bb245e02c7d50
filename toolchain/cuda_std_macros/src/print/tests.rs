use super::format::{Kind, parse};
use super::*;

/// The compiler's error for a call.
fn error(input: TokenStream) -> String {
    expand(input, false).unwrap_err().to_string()
}

#[test]
fn each_value_is_evaluated_once_and_printed_in_order() {
    let expanded = expand(quote!("{1} {} {1:x}", first(), second), true).unwrap();
    let text = expanded.to_string();
    let matched = "match (& (first ()) , & (second) ,) { (r0 , r1 ,) =>";
    assert!(text.starts_with(matched), "{text}");
    let held = ":: cuda_std :: io :: format :: display (r1) , \
                :: cuda_std :: io :: format :: display (r0) , \
                :: cuda_std :: io :: format :: hex (r1) ,";
    assert!(text.contains(held), "{text}");
}

#[test]
fn names_are_given_or_variables() {
    let text = expand(quote!("{a} {b} {a}", a = 1 + 1), false)
        .unwrap()
        .to_string();
    assert!(text.starts_with("match (& (1 + 1) , & (b) ,)"), "{text}");
    assert_eq!(text.matches("display (r0)").count(), 2, "{text}");
}

#[test]
fn a_string_literal_becomes_one_of_c() {
    let text = expand(quote!("{}", "warp"), false).unwrap().to_string();
    assert!(text.contains("c\"warp\""), "{text}");
}

#[test]
fn the_length_is_enough_for_the_longest_conversion() {
    // `100%% %-+0999.99.17g` and the zero.
    let text = expand(quote!("100% {:<+0999}", x), false)
        .unwrap()
        .to_string();
    assert!(
        text.contains("write :: < __CudaStdFormat , _ , 18usize >"),
        "{text}"
    );
}

#[test]
fn texts_and_values_are_pieces() {
    let pieces = parse("a{{{}}}{x:#06x}%").unwrap();
    let Piece::Text(text) = &pieces[0] else {
        panic!("{pieces:?}")
    };
    assert_eq!(text, "a{");
    assert_eq!(pieces[2], Piece::Text("}0x".into()));
    let value = pieces[3].value().unwrap();
    assert_eq!((value.kind, value.zeros, value.width), (Kind::Hex, true, 4));
    assert_eq!(value.place, Place::Name("x".into()));
    assert_eq!(pieces[4], Piece::Text("%".into()));
    assert_eq!(pieces.len(), 5);
}

#[test]
fn zeros_overrule_the_alignment() {
    let pieces = parse("{:<08}").unwrap();
    let value = pieces[0].value().unwrap();
    assert_eq!((value.left, value.zeros, value.width), (None, true, 8));
}

#[test]
fn what_a_gpu_cannot_print_is_named() {
    for (format, said) in [
        ("{:?}", "not support `Debug`"),
        ("{:#?}", "not support `Debug`"),
        ("{:b}", "binary"),
        ("{:^8}", "cannot centre"),
        ("{:*<8}", "not with `*`"),
        ("{:-8}", "flag `-`"),
        ("{:w$}", "must be numbers in the format"),
        ("{:1$}", "must be numbers in the format"),
        ("{:0$}", "must be numbers in the format"),
        ("{:.*}", "must be a number in the format"),
        ("{:.p$}", "must be a number in the format"),
        ("{:e}", "requires a precision"),
        ("{:.3x}", "can have a precision"),
        ("{:+x}", "can have a precision or a `+`"),
        ("{:#10x}", "requires `0` or `<`"),
        ("{:18p}", "cannot have a width"),
        ("{:#}", "`#` requires"),
        ("{:y}", "not support the format `y`"),
        ("{:1000}", "the limit is 999"),
        ("{", "without a matching `}`"),
        ("}", "without a matching `{`"),
        ("{a b}", "neither an index nor a name"),
        ("a\0b", "character 0"),
        ("{}", "there is no value 0"),
        ("{1}", "there is no value 1"),
    ] {
        let text = error(quote!(#format));
        assert!(text.contains(said), "{format}: {text}");
    }
    assert!(error(quote!("{}", 1, 2)).contains("does not use this value"));
    assert!(error(quote!("{a}", a = 1, a = 2)).contains("given twice"));
    assert!(error(quote!("{a}", a = 1, 2)).contains("must precede"));
    assert!(error(quote!("{}", "a\0")).contains("character 0"));
    assert!(error(quote!(format)).contains("must be a string literal"));
    assert!(error(quote!()).contains("must be a string literal"));
}

#[test]
fn a_gpu_takes_32_values() {
    let values = vec![quote!(1); 33];
    let (most, more) = ("{}".repeat(32), "{}".repeat(33));
    let first = &values[..32];
    assert!(expand(quote!(#most, #(#first),*), false).is_ok());
    assert!(error(quote!(#more, #(#values),*)).contains("the limit is 32"));
}
