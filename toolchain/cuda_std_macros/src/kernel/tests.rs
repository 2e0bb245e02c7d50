use super::*;

fn expanded(item: TokenStream) -> String {
    expand(TokenStream::new(), item).unwrap().to_string()
}

fn errors(item: TokenStream) -> Vec<String> {
    let error = expand(TokenStream::new(), item).expect_err("an error was expected");
    error.into_iter().map(|error| error.to_string()).collect()
}

fn assert_refused(item: TokenStream, words: &str) {
    let errors = errors(item);
    assert!(
        errors.len() == 1 && errors[0].contains(words),
        "{words:?} not in {errors:?}"
    );
}

#[test]
fn slices_are_flattened_on_the_device_and_kept_on_the_host() {
    let text = expanded(quote! {
        /// Doubles.
        pub unsafe fn double(x: &[f32], mut y: &mut [f32], n: u32) { body(x, y, n) }
    });
    let device = quote! {
        #[cfg(target_arch = "nvptx64")]
        #[doc = r" Doubles."]
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn double(
            __slice_0: &[f32; 0], __slice_0_len: usize,
            __slice_1: *mut f32, __slice_1_len: usize,
            n: u32,
        ) {
            let x: &[f32] =
                unsafe { ::core::slice::from_raw_parts(__slice_0.as_ptr(), __slice_0_len) };
            let mut y: &mut [f32] =
                unsafe { ::core::slice::from_raw_parts_mut(__slice_1, __slice_1_len) };
            body(x, y, n)
        }
    };
    let host = quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #[doc = r" Doubles."]
        pub unsafe fn double(x: &[f32], mut y: &mut [f32], n: u32) { body(x, y, n) }
    };
    assert!(text.starts_with(&device.to_string()), "{text}");
    assert!(text.contains(&host.to_string()), "{text}");
}

#[test]
fn everything_else_is_one_parameter_and_checked_by_type() {
    let text = expanded(quote! { unsafe fn k(a: *const T, b: &Params, c: [f32; 3], d: Named) {} });
    assert!(
        text.contains(&quote!(fn k(a: *const T, b: &Params, c: [f32; 3], d: Named,)).to_string())
    );
    for ty in [
        quote!(*const T),
        quote!(&Params),
        quote!([f32; 3]),
        quote!(Named),
    ] {
        assert!(
            text.contains(&quote!(Parameter::<#ty>::IS_FAT).to_string()),
            "{ty}"
        );
        assert!(text.contains(&quote!(is_copy::<#ty>()).to_string()), "{ty}");
    }
}

#[test]
fn signatures_that_no_launch_can_call_are_refused() {
    assert_refused(quote! { pub fn k() {} }, "`unsafe`");
    assert_refused(quote! { unsafe fn k<T>(x: T) {} }, "generic");
    assert_refused(quote! { unsafe fn k(x: u32) where u32: Copy {} }, "generic");
    assert_refused(quote! { const unsafe fn k() {} }, "`const`");
    assert_refused(quote! { async unsafe fn k() {} }, "`async`");
    assert_refused(quote! { unsafe extern "C" fn k() {} }, "ABI");
    assert_refused(quote! { unsafe fn k(&self) {} }, "method");
    assert_refused(quote! { unsafe fn k() -> u32 { 0 } }, "cannot return");
}

#[test]
fn parameters_of_two_words_are_refused() {
    assert_refused(quote! { unsafe fn k(x: &str) {} }, "`&str`");
    assert_refused(quote! { unsafe fn k(x: [f32]) {} }, "by reference");
    assert_refused(quote! { unsafe fn k(x: *const [f32]) {} }, "fat pointer");
    assert_refused(quote! { unsafe fn k(x: *mut str) {} }, "fat pointer");
    assert_refused(quote! { unsafe fn k(x: &dyn Fn()) {} }, "trait object");
    assert_refused(quote! { unsafe fn k(x: impl Copy) {} }, "generic");
    assert_refused(quote! { unsafe fn k(x: &mut f32) {} }, "`*mut`");
    assert_refused(
        quote! { unsafe fn k(x: (u32, &[f32])) {} },
        "separate parameter",
    );
    assert_refused(
        quote! { unsafe fn k(x: Option<&[f32]>) {} },
        "separate parameter",
    );
    assert_refused(
        quote! { unsafe fn k(x: [&[f32]; 2]) {} },
        "separate parameter",
    );
    assert_refused(quote! { unsafe fn k(x: &&[f32]) {} }, "separate parameter");
}

#[test]
fn all_errors_are_shown_at_once() {
    assert_eq!(errors(quote! { fn k<T>(x: &str, y: [T]) -> T {} }).len(), 5);
}

#[test]
fn a_module_is_a_line_for_the_builder() {
    let item = quote! { unsafe fn k(x: u32) {} };
    let line = quote! {
        #[cfg(target_arch = "nvptx64")]
        ::core::arch::global_asm!("//!cuda k module=sums_i32");
    };
    let text = expand(quote!(module = sums_i32), item.clone()).unwrap();
    assert!(text.to_string().contains(&line.to_string()), "{text}");
    assert!(!expanded(item).contains("global_asm"));
}

#[test]
fn other_arguments_are_refused() {
    for argument in [
        quote!(max_threads = 256),
        quote!(module),
        quote!(module = "sums"),
        quote!(module = sums, module = products),
    ] {
        let error = expand(argument.clone(), quote! { unsafe fn k() {} }).unwrap_err();
        assert!(error.to_string().contains("launch_bounds"), "{argument}");
    }
}
