//! Kernels that need `std` or `alloc`: which crate it is, and what to do.

use crate::CudaBuilderError;
use crate::cargo::Package;

/// What rustc says of a library that the target does not have, and the library.
const SIGNS: [(&str, &str); 5] = [
    ("can't find crate for `std`", "std"),
    ("cannot find module or crate `std`", "std"),
    ("unresolved import `std", "std"),
    ("can't find crate for `alloc`", "alloc"),
    ("cannot find module or crate `alloc`", "alloc"),
];

/// The error for what the nested cargo printed, if a library is missing that a GPU does not have.
pub(crate) fn explain(package: &Package, output: &str) -> Option<CudaBuilderError> {
    let text = without_colours(output);
    let (at, library) = SIGNS
        .iter()
        .filter_map(|&(sign, library)| Some((text.find(sign)?, library)))
        .min()?;
    // cargo names the crate after all of its errors.
    let (_, after) = text[at..].split_once("could not compile `")?;
    let (culprit, _) = after.split_once('`')?;
    let krate = package.crates.iter().find(|krate| krate.name == culprit)?;
    let line = text[at..]
        .lines()
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.trim_start().strip_prefix("--> "));
    let place = match line {
        Some(line) => line.to_owned(),
        // Without `#![no_std]` no line asks for it.
        None => format!("{}:1", krate.root_file.display()),
    };
    let help = match (&krate.used_by, library) {
        (None, "std") => format!(
            "begin {} with `#![no_std]`, and write `core` in place of `std`",
            krate.root_file.display()
        ),
        (None, _) => "use arrays of a fixed length: kernels cannot allocate".to_owned(),
        (Some(user), _) => format!(
            "in the Cargo.toml of `{user}`, write `{culprit} = {{ version = \"{}\", default-features = false }}` \
             if a default feature needs `{library}`; else use another crate, one that is `no_std`",
            krate.version
        ),
    };
    let chain = package.chain_to(culprit).join(" -> ");
    Some(CudaBuilderError::NeedsStd {
        culprit: match krate.used_by {
            None => format!("`{culprit}`"),
            Some(_) => format!("`{culprit}`, a dependency ({chain}),"),
        }
        .into(),
        krate: package.name.clone(),
        library,
        place: place.into(),
        output: output.to_owned(),
        help: help.into(),
    })
}

/// The text without the escape sequences that cargo colours it with.
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
    use super::without_colours;

    #[test]
    fn colours_are_left_out() {
        let text = "\x1b[1m\x1b[91merror\x1b[0m: m\n \x1b[94m--> \x1b[0msrc/lib.rs:1:2\n";
        assert_eq!(without_colours(text), "error: m\n --> src/lib.rs:1:2\n");
    }
}
