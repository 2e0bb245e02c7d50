//! The repository's own rules. This file must obey them too, so it builds the words that it searches from
//! pieces.

mod pointers;
mod quotes;
mod words;

use crate::process;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The limit of lines in a file of source or prose.
const LONGEST: usize = 600;

/// Output of tools and machines, which stays unchanged.
const RAW: &str = "benches/records/";

/// Inputs of tests, which are not checked.
const INPUTS: [&str; 2] = ["fuzz/corpus", "fuzz/found"];

/// Generated files, of any length.
const GENERATED: [&str; 3] = [
    "Cargo.lock",
    "examples/Cargo.lock",
    "kernels-gpu/tests/laws/op_laws/numpy_answers.txt",
];

/// Crates of other workspaces, as a user has: without our lints, and with their own launches.
const OUTSIDE: [&str; 2] = ["examples/", "xtask/template/"];

/// Files that may contain the words to avoid.
const WORDS: &str = "xtask/src/tidy/words.rs";
const STYLE: &str = "STYLE.md";

/// The only file of the library that may launch a kernel.
const LAUNCHER: &str = "host/src/launch.rs";

/// Checks every file of the tree; returns findings as `path:line: finding`.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let files = files(root)?;
    let is_input = |path: &&PathBuf| INPUTS.iter().any(|folder| path.starts_with(folder));
    for path in files.iter().filter(|path| !is_input(path)) {
        let Ok(text) = std::fs::read_to_string(root.join(path)) else {
            continue; // not text
        };
        let file = File {
            path: &path.to_string_lossy(),
            text: &text,
        };
        findings.extend(file.check(root));
    }
    if !files.iter().any(|path| path == Path::new("Cargo.lock")) {
        findings.push("Cargo.lock: must be committed, because it pins the versions".into());
    }
    Ok(findings)
}

/// The files of the tree, relative to `root`: tracked files and those that git would add; every file if the
/// tree is not a git checkout.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others"])
        .arg("--exclude-standard");
    let mut files = match process::stdout_of(&mut git) {
        Ok(list) => list.split_terminator('\0').map(PathBuf::from).collect(),
        Err(_) => {
            let mut files = Vec::new();
            walk(root, root, &mut files)?;
            files
        }
    };
    files.retain(|path| root.join(path).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(root: &Path, dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let context = || format!("cannot read {}", dir.display());
    for entry in std::fs::read_dir(dir).with_context(context)? {
        let entry = entry.with_context(context)?;
        let path = entry.path();
        let relative = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        if !entry.file_type().with_context(context)?.is_dir() {
            files.push(relative);
        } else if ![".git", "target", "dist", "learn"].contains(&&*relative.to_string_lossy()) {
            walk(root, &path, files)?;
        }
    }
    Ok(())
}

/// A text file of the tree.
struct File<'a> {
    /// Relative to the root.
    path: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn is_outside(&self) -> bool {
        OUTSIDE.iter().any(|folder| self.path.starts_with(folder))
    }

    fn check(&self, root: &Path) -> Vec<String> {
        let mut findings = Vec::new();
        self.check_whole(&mut findings);
        for (index, line) in self.text.lines().enumerate() {
            for wrong in self.check_line(line) {
                findings.push(format!("{}:{}: {wrong}", self.path, index + 1));
            }
        }
        if self.is("md") {
            let folder = root.join(self.path);
            let folder = folder.parent().unwrap_or(root);
            for (line, wrong) in quotes::changed(folder, self.text) {
                findings.push(format!("{}:{line}: {wrong}", self.path));
            }
            for (line, link) in relative_links(self.text) {
                let target = folder.join(&link);
                if !target.exists() {
                    findings.push(format!(
                        "{}:{line}: the link's target {link} does not exist",
                        self.path
                    ));
                }
            }
        }
        findings
    }

    fn check_whole(&self, findings: &mut Vec<String>) {
        let is_handwritten = !GENERATED.contains(&self.path) && !self.path.starts_with(RAW);
        let lines = self.text.lines().count();
        if is_handwritten && lines > LONGEST {
            findings.push(format!(
                "{}: {lines} lines; the limit is {LONGEST}; split the file",
                self.path
            ));
        }
        let is_manifest = self.path.rsplit('/').next() == Some("Cargo.toml");
        let is_ours = !self.is_outside();
        if is_manifest && is_ours && has_table(self.text, "package") {
            let mut table = table_of(self.text, "lints");
            if !table.any(|line| line.replace(' ', "") == "workspace=true") {
                findings.push(format!("{}: lacks [lints] workspace = true", self.path));
            }
        }
    }

    fn check_line(&self, line: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut refuse = |found: &str, why: &str| wrong.push(format!("`{found}`: {why}"));
        if !self.path.starts_with(RAW) && line.ends_with([' ', '\t']) {
            refuse(&line[line.trim_end().len()..], "trailing whitespace");
        }
        for host in registry_hosts() {
            if line.contains(host) {
                refuse(
                    host,
                    "a registry's host belongs in the user's configuration",
                );
            }
        }
        if self.path == "Cargo.lock"
            && line.starts_with("source = ")
            && !line.contains("/rust-lang/crates.io-index\"")
        {
            refuse(line, "only the public registry is allowed");
        }
        for home in [
            concat!("/ho", "me/"),
            concat!("/ro", "ot/"),
            concat!("/Us", "ers/"),
        ] {
            if line.contains(home) {
                refuse(home, "a path that exists only on one machine");
            }
        }
        for word in [
            concat!("TO", "DO"),
            concat!("FIX", "ME"),
            concat!("XX", "X"),
        ] {
            if has_word(line, word) {
                refuse(word, "finish it, or open an issue");
            }
        }
        let is_prose_or_code = ["rs", "md", "toml", "cu", "py", "js"]
            .iter()
            .any(|extension| self.is(extension));
        if is_prose_or_code && ![WORDS, STYLE].contains(&self.path) && !self.path.starts_with(RAW) {
            for (word, instead) in words::coined(line) {
                refuse(word, &format!("write: {instead}"));
            }
        }
        if self.is("rs") {
            for name in [concat!("to", "do!"), concat!("unimple", "mented!")] {
                if has_word(line, name) {
                    refuse(name, "no stubs");
                }
            }
            if line.contains(concat!("#[ig", "nore")) {
                refuse(
                    "ignore",
                    "assert the present behaviour, or skip with a reason",
                );
            }
            let launches = self.path == LAUNCHER || self.is_outside();
            if !launches && has_word(line, concat!("laun", "ch!")) {
                refuse(
                    "launch",
                    concat!("kernels are launched in host/src/", "launch.rs only"),
                );
            }
            if let Some(raw) = pointers::raw_pointer(self.path, line) {
                refuse(raw, "kernels access memory only through Global and Shared");
            }
        }
        wrong
    }

    fn is(&self, extension: &str) -> bool {
        Path::new(self.path)
            .extension()
            .is_some_and(|e| e == extension)
    }
}

/// Hosts of package registries and their mirrors.
fn registry_hosts() -> [&'static str; 9] {
    [
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("static.", "rust-lang.org"),
        concat!("py", "pi.org"),
        concat!("py", "pi.nvidia.com"),
        concat!("files.python", "hosted.org"),
        concat!("deb.", "debian.org"),
        concat!("developer.download.", "nvidia.com"),
        concat!("arti", "factory"),
    ]
}

/// Whether `line` contains `word` without a letter, digit or underscore before or after it.
fn has_word(line: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let joined = word.ends_with(inside) && after.is_some_and(inside);
        !before.is_some_and(inside) && !joined
    })
}

fn has_table(manifest: &str, name: &str) -> bool {
    let header = format!("[{name}]");
    manifest.lines().any(|line| line.trim() == header)
}

/// The lines of a manifest's table.
fn table_of<'a>(manifest: &'a str, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let header = format!("[{name}]");
    let lines = manifest.lines().map(str::trim);
    let mut after = lines.skip_while(move |line| *line != header);
    after.next();
    after.take_while(|line| !line.starts_with('['))
}

/// The paths in Markdown links, without `#section`, with line numbers. Fenced code is skipped.
fn relative_links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for (start, opening) in line.match_indices("](") {
            let rest = &line[start + opening.len()..];
            let target = rest.split([')', ' ', '#']).next().unwrap_or("");
            let is_url = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !is_url {
                links.push((index + 1, target.to_owned()));
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in a file with this path and text.
    fn findings(path: &str, text: &str) -> Vec<String> {
        let root = crate::workspace::root();
        File { path, text }.check(&root)
    }

    #[track_caller]
    fn refused(path: &str, text: &str, why: &str) {
        let findings = findings(path, text);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains(why), "{findings:?}");
    }

    #[track_caller]
    fn accepted(path: &str, text: &str) {
        let findings = findings(path, text);
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn this_trees_files_are_found() {
        let files = files(&crate::workspace::root()).unwrap();
        assert!(files.contains(&"Cargo.lock".into()));
        assert!(files.contains(&"xtask/src/tidy.rs".into()));
        accepted("xtask/src/tidy.rs", include_str!("tidy.rs"));
    }

    #[test]
    fn a_tree_without_git_or_lock_file() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir(tree.path().join("target")).unwrap();
        std::fs::write(tree.path().join("target/junk.rs"), "x ").unwrap();
        std::fs::write(tree.path().join("a.rs"), "let x = 1; \n").unwrap();
        let findings = check(tree.path()).unwrap();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].starts_with("a.rs:1: "), "{findings:?}");
        assert!(findings[1].starts_with("Cargo.lock: "), "{findings:?}");
    }

    #[test]
    fn launches() {
        let launch = concat!("unsafe { laun", "ch!(kernel<<<1, 1, 0, stream>>>()) }\n");
        refused("host/src/reduce.rs", launch, "launch.rs only");
        accepted(LAUNCHER, launch);
        accepted("examples/app/src/main.rs", launch);
        accepted("host/src/reduce.rs", "launch::reduce_2(&input);\n");
    }

    #[test]
    fn coined_words() {
        let line = concat!("/// The next tic", "ket.\n");
        refused("host/src/reduce.rs", line, "arrival counter");
        accepted(&format!("{RAW}x.md"), line);
        accepted("host/src/reduce.json", line);
    }

    #[test]
    fn raw_pointers_in_kernels() {
        let kernel = "let x = 1;\nlet start = input.as_ptr();\n";
        refused("kernels-gpu/src/warp.rs", kernel, "warp.rs:2: `as_ptr`");
        accepted("kernels-gpu/src/entry.rs", kernel);
    }

    #[test]
    fn hosts_homes_and_unfinished_work() {
        let line = |pieces: [&str; 2]| format!("see {} here\n", pieces.concat());
        let text = line(["https://py", "pi.org/simple"]);
        refused("README.md", &text, "registry's host");
        let text = line(["https://arti", "factory.example.com/x"]);
        refused(".cargo/config.toml", &text, "registry's host");
        refused(".ci/run", &line(["/ho", "me/me/x"]), "one machine");
        refused("a.cu", &line(["FIX", "ME"]), "open an issue");
        refused("a.md", &line(["TO", "DO:"]), "open an issue");
        refused("a.rs", &line(["to", "do!()"]), "no stubs");
        refused("a.rs", &line(["unimple", "mented!()"]), "no stubs");
        accepted("a.rs", "let todos = mastodon(MASTO_XXXL);\n");
    }

    #[test]
    fn tests_that_do_not_run() {
        let text = concat!("#[test]\n#[ig", "nore = \"slow\"]\nfn f() {}\n");
        refused("a.rs", text, "a.rs:2: ");
    }

    #[test]
    fn long_files() {
        let text = "x\n".repeat(LONGEST + 1);
        refused("a.rs", &text, "601 lines");
        accepted("a.rs", &"x\n".repeat(LONGEST));
        accepted("benches/records/h200/ladder.txt", &text);
        accepted("Cargo.lock", &text);
    }

    #[test]
    fn trailing_whitespace() {
        refused("a.rs", "let x = 1;\nlet y = 2;\t\n", "a.rs:2: ");
        accepted("benches/records/h200/ladder.txt", "x  \n");
    }

    #[test]
    fn manifests_take_the_workspaces_lints() {
        let package = "[package]\nname = \"x\"\n";
        refused("x/Cargo.toml", package, "lacks [lints]");
        let other = format!("{package}[lints]\n[features]\nworkspace = true\n");
        refused("x/Cargo.toml", &other, "lacks [lints]");
        accepted(
            "x/Cargo.toml",
            &format!("{package}\n[lints]\nworkspace = true\n"),
        );
        accepted("Cargo.toml", "[workspace]\n");
        accepted("examples/app/Cargo.toml", package);
    }

    #[test]
    fn other_registries_in_the_lock_file() {
        let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        accepted("Cargo.lock", public);
        let other = "source = \"sparse+https://crates.example.com/index\"\n";
        refused("Cargo.lock", other, "public registry");
    }

    #[test]
    fn targets_of_links_must_exist() {
        accepted(
            "README.md",
            "[a](Cargo.toml#x) [b](https://example.com) [c](#here)\n",
        );
        accepted("README.md", "```\n[a](no-such-file)\n```\n");
        refused(
            "README.md",
            "\n[a](no-such-file.md)\n",
            "README.md:2: the link's target",
        );
        accepted("xtask/README.md", "[up](../Cargo.toml)\n");
    }
}
