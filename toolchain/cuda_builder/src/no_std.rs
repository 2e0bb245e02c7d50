//! Kernels that need `std` or `alloc`: finds the crate, and advises what to do.

use crate::CudaBuilderError;
use crate::cargo::{Krate, Package};
use std::fs;

/// rustc's messages for a library that the target lacks, and the library.
const SIGNS: [(&str, &str); 5] = [
    ("can't find crate for `std`", "std"),
    ("cannot find module or crate `std`", "std"),
    ("unresolved import `std", "std"),
    ("can't find crate for `alloc`", "alloc"),
    ("cannot find module or crate `alloc`", "alloc"),
];

/// Names of `std` that `core` lacks, and what to use instead.
const INSTEAD: [(&[&str], &str); 4] = [
    (
        &[
            "cannot find type `Vec`",
            "cannot find type `Box`",
            "cannot find macro `vec`",
            "no method named `to_vec`",
        ],
        "`Vec`, `Box`: a kernel cannot allocate. Use an array of a fixed length; `cuda_std::shared_array!` for one that \
         a block shares; a pointer to memory that the host has allocated",
    ),
    (
        &[
            "cannot find type `String`",
            "cannot find macro `format`",
            "no method named `to_string`",
        ],
        "`String`, `format!`: a kernel cannot allocate. Use `&str`; `cuda_std::print!` formats and prints",
    ),
    (
        &[
            "cannot find macro `print`",
            "cannot find macro `println`",
            "cannot find macro `eprint`",
            "cannot find macro `eprintln`",
            "cannot find macro `dbg`",
        ],
        "`println!`, `dbg!`: use `cuda_std::println!` or `cuda_std::print!`",
    ),
    (
        &["found for type `f32`", "found for type `f64`"],
        "functions of floats (`sqrt`, `exp`): use those of `cuda_std::float::GpuFloat`",
    ),
];

/// Advice if the compiler reports names that only `std` has; else an empty text.
pub(crate) fn instead(output: &str) -> String {
    let text = without_colours(output);
    let mut all = String::new();
    for (signs, instead) in INSTEAD {
        if signs.iter().any(|sign| text.contains(sign)) {
            all += &format!("\n  {instead}.");
        }
    }
    match all.is_empty() {
        true => all,
        false => format!("What to do: a GPU has `core`, but not `std`.{all}\n"),
    }
}

/// The error for the nested cargo's output, if a library is missing that a GPU does not have.
pub(crate) fn explain(package: &Package, output: &str) -> Option<CudaBuilderError> {
    let text = without_colours(output);
    let (at, library) = SIGNS
        .iter()
        .filter_map(|&(sign, library)| Some((text.find(sign)?, library)))
        .min()?;
    // cargo names the crate after all its errors.
    let (_, after) = text[at..].split_once("could not compile `")?;
    let (culprit, _) = after.split_once('`')?;
    let krate = package.crates.iter().find(|krate| krate.name == culprit)?;
    let line = text[at..]
        .lines()
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.trim_start().strip_prefix("--> "));
    let location = match line {
        Some(line) => line.to_owned(),
        // Without `#![no_std]`, no line of the source requests it.
        None => format!("{}:1", krate.root_file.display()),
    };
    let chain = package.chain_to(culprit);
    let user = krate.used_by.as_ref().and_then(|user| {
        let is_it = |krate: &&Krate| krate.name == *user;
        package.crates.iter().find(is_it)
    });
    let help = match (user, library) {
        (None, "std") => {
            let core = "write `core` in place of `std`";
            let text = fs::read_to_string(&krate.root_file).unwrap_or_default();
            match text.contains("no_std") {
                true => core.to_owned(),
                false => format!(
                    "begin {} with `#![no_std]`, and {core}",
                    krate.root_file.display()
                ),
            }
        }
        (None, _) => "use arrays of a fixed length: kernels cannot allocate".to_owned(),
        (Some(user), _) if user.is_local => format!(
            "in the Cargo.toml of `{}`, write `{culprit} = {{ version = \"{}\", default-features = false }}` \
             if a default feature needs `{library}`; else use another crate, one that is `no_std`",
            user.name, krate.version
        ),
        // The user cannot edit that crate's Cargo.toml.
        (Some(_), _) => format!(
            "switch off the default features of `{}` in the Cargo.toml of `{}`; if it needs `{culprit}` without \
             them too, use another crate, one that is `no_std`",
            chain.get(1).unwrap_or(&culprit),
            package.name
        ),
    };
    let chain = chain.join(" -> ");
    Some(CudaBuilderError::NeedsStd {
        culprit: match krate.used_by {
            None => format!("`{culprit}`"),
            Some(_) => format!("`{culprit}`, a dependency ({chain}),"),
        }
        .into(),
        krate: package.name.clone(),
        library,
        location: location.into(),
        output: output.to_owned(),
        help: help.into(),
    })
}

/// The text without cargo's escape sequences for colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, after)| after));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{explain, instead, without_colours};
    use crate::cargo::{Krate, Package};

    fn krate(name: &str, is_local: bool, used_by: Option<&str>) -> Krate {
        Krate {
            name: name.to_owned(),
            version: "1.2.3".to_owned(),
            root_file: format!("/{name}/src/lib.rs").into(),
            is_local,
            used_by: used_by.map(str::to_owned),
        }
    }

    #[test]
    fn a_crate_of_a_registry_is_left_out_through_the_crate_that_can_be_edited() {
        let crates = vec![
            krate("mine", true, None),
            krate("between", false, Some("mine")),
            krate("below", false, Some("between")),
        ];
        let package = Package::of_crates("mine", crates);
        let explained = |culprit: &str| {
            let output = format!(
                "warning: some\n\nerror: can't find crate for `std`\n  --> /x/src/a.rs:4:5\n\n\
                 error: could not compile `{culprit}` (lib)"
            );
            explain(&package, &output).map(|error| error.to_string())
        };
        let text = explained("below").unwrap();
        for part in [
            "`below`, a dependency (mine -> between -> below), needs `std`",
            "at /x/src/a.rs:4:5.",
            "switch off the default features of `between` in the Cargo.toml of `mine`",
            "if it needs `below` without them too",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = explained("between").unwrap();
        assert!(
            text.contains("`between = { version = \"1.2.3\", default-features = false }`"),
            "{text}"
        );
        assert_eq!(explained("unknown"), None);
        let other = "error: other\nerror: could not compile `mine` (lib)";
        assert!(explain(&package, other).is_none());
    }

    #[test]
    fn nothing_is_said_of_other_errors() {
        assert_eq!(
            instead("error[E0425]: cannot find type `Vector` in this scope"),
            ""
        );
        let coloured = "\x1b[1mcannot find macro `format` in this scope\x1b[0m";
        assert!(instead(coloured).contains("`String`, `format!`"));
    }

    #[test]
    fn colours_are_left_out() {
        let text = "\x1b[1m\x1b[91merror\x1b[0m: m\n \x1b[94m--> \x1b[0msrc/lib.rs:1:2\n";
        assert_eq!(without_colours(text), "error: m\n --> src/lib.rs:1:2\n");
    }
}
