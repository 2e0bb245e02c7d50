//! Kernels access memory only through `Global` and `Shared`, because the simulator cannot check raw pointers.

use super::has_word;

/// The kernels.
const KERNELS: &str = "kernels-gpu/src/";

/// Files that may use raw pointers: handles, their instructions, and entry points, which make handles from
/// the host's pointers.
const ALLOWED: [&str; 7] = [
    "device.rs",
    "device/",
    "mem.rs",
    "mem/",
    "entry.rs",
    "entry/",
    "keyed/keys.rs",
];

/// The operators, whose `combine_atomic_*` take the address of a cell from a handle.
const OPERATORS: [&str; 2] = ["op.rs", "op/"];

/// The parameter with that address, the only pointer of an operator.
const CELL: &str = "cell: *mut ";

/// Words that make a raw pointer, or memory without a handle.
const RAW: [&str; 14] = [
    "*const",
    "*mut",
    "&raw",
    "ptr",
    "as_ptr",
    "as_mut_ptr",
    "as_ptr_range",
    "addr_of",
    "addr_of_mut",
    "NonNull",
    "AtomicPtr",
    "static mut",
    "shared_array",
    "dynamic_shared_mem",
];

/// The first word of [`RAW`] in a line of a kernel, outside comments.
pub(super) fn raw_pointer(path: &str, line: &str) -> Option<&'static str> {
    let file = path.strip_prefix(KERNELS)?;
    let among = |files: &[&str]| {
        let mut files = files.iter();
        files.any(|known| file == *known || (known.ends_with('/') && file.starts_with(known)))
    };
    if among(&ALLOWED) {
        return None;
    }
    let code = line.split("//").next().unwrap_or("");
    let code = match among(&OPERATORS) {
        true => code.replace(CELL, "cell: "),
        false => code.into(),
    };
    RAW.into_iter().find(|raw| has_word(&code, raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_for_a_raw_pointer_is_found() {
        let lines = [
            ("fn f(x: *const f32) {", "*const"),
            ("let start = x as *mut T;", "*mut"),
            ("unsafe { use_it(&raw mut x) }", "&raw"),
            ("unsafe { core::ptr::read(cell) }", "ptr"),
            ("let start = input.as_ptr();", "as_ptr"),
            ("let start = tile.as_mut_ptr().cast();", "as_mut_ptr"),
            ("let ends = input.as_ptr_range();", "as_ptr_range"),
            ("let start = addr_of!(TILE);", "addr_of"),
            ("let start = addr_of_mut!(TILE);", "addr_of_mut"),
            ("struct Tile<T>(NonNull<T>);", "NonNull"),
            ("static HEAD: AtomicPtr<u32> = HERE;", "AtomicPtr"),
            ("static mut TILE: Tile = Tile::new();", "static mut"),
            ("    shared_array!(tile: [f32; 32]);", "shared_array"),
            ("let x = dynamic_shared_mem::<T>();", "dynamic_shared_mem"),
        ];
        assert_eq!(lines.map(|(_, raw)| raw), RAW);
        for (line, raw) in lines {
            for file in ["harris/reduce_0.rs", "warp.rs", "memory.rs", "op/sum.rs"] {
                let path = format!("{KERNELS}{file}");
                assert_eq!(raw_pointer(&path, line), Some(raw), "{file}: {line}");
            }
        }
    }

    #[test]
    fn handles_entries_and_other_crates_may_hold_pointers() {
        for path in [
            "kernels-gpu/src/device.rs",
            "kernels-gpu/src/mem.rs",
            "kernels-gpu/src/mem/shared.rs",
            "kernels-gpu/src/entry.rs",
            "kernels-gpu/tests/handles/src/lib.rs",
            "toolchain/cuda_std/src/shared.rs",
        ] {
            assert_eq!(raw_pointer(path, "start: *mut T,"), None, "{path}");
        }
    }

    #[test]
    fn operators_may_take_only_a_cell() {
        let hook = "unsafe fn combine_atomic_block(cell: *mut T, value: T);";
        for path in ["kernels-gpu/src/op.rs", "kernels-gpu/src/op/sum.rs"] {
            assert_eq!(raw_pointer(path, hook), None);
            let other = "unsafe fn fold(cell: *mut T, cells: *mut T);";
            assert_eq!(raw_pointer(path, other), Some("*mut"));
        }
        let kernel = raw_pointer("kernels-gpu/src/harris/naive.rs", hook);
        assert_eq!(kernel, Some("*mut"));
    }

    #[test]
    fn other_code_is_accepted() {
        for line in [
            "/// input: *const T, input_len: u64",
            "scratch.set(tid, value); // no *mut here",
            "const LEN: usize = 32;",
            "let x = *mutable * constant;",
            "let attempt = ptrs.len();",
        ] {
            assert_eq!(raw_pointer("kernels-gpu/src/ceiling.rs", line), None);
        }
    }
}
