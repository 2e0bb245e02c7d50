//! `cargo xtask book`: builds the book's web site, and opens some of its pages in a browser.

pub mod opened;

use crate::{browser, process, ptx, setup, workspace};
use anyhow::{Context, Result, bail};
use cuda_builder::NvvmArch;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Write the generated parts of the book's pages again, and build its web site
#[derive(clap::Args)]
pub struct Args {
    /// First build the kernels, and write the PTX that the pages show
    #[arg(long)]
    ptx: bool,
}

/// The kernels whose PTX the pages show.
const ENTRIES: [&str; 8] = [
    "reduce_naive_sum_i32",
    "reduce_0_sum_i32",
    "reduce_1_sum_i32",
    "reduce_2_sum_i32",
    "reduce_4_sum_i32",
    "reduce_5_x8_sum_i32",
    "triple_in_turn_sum_i32",
    "triple_interleaved_sum_i32",
];

impl Args {
    /// Builds the site in `target/book` and prints its first page.
    pub fn run(self) -> Result<ExitCode> {
        if self.ptx {
            write_ptx()?;
        }
        let target = workspace::target_dir()?;
        let (pages, site) = (target.join("book-pages"), target.join("book"));
        let mut writer = process::cargo();
        writer.args([
            "run",
            "--quiet",
            "--package",
            "warpfold-book",
            "--",
            "--site",
        ]);
        if !process::succeeds(writer.arg(&pages))? {
            bail!("the pages cannot be written");
        }
        let mut mdbook = Command::new(setup::for_book()?);
        mdbook.arg("build").arg(&pages).arg("--dest-dir").arg(&site);
        if !process::succeeds(&mut mdbook)? {
            bail!("mdBook failed");
        }
        process::report(&format!("book: {}", site.join("index.html").display()));
        Ok(match opens(&site)? {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

/// Whether some pages of the site have no fault, if there is a browser.
fn opens(site: &Path) -> Result<bool> {
    let browser = match browser::find() {
        Ok(browser) => browser,
        Err(error) => {
            process::report(&format!(
                "book: no page was opened: {error:#}; `cargo xtask setup --browser` downloads a browser"
            ));
            return Ok(true);
        }
    };
    let since = Instant::now();
    let faults = opened::faults(&browser.program, site, &opened::PAGES)?;
    let seconds = since.elapsed().as_secs_f64();
    match &faults[..] {
        [] => process::report(&format!(
            "book: {} have no fault in {browser}, light and dark, narrow and wide ({seconds:.0} s)",
            opened::PAGES.join(", ")
        )),
        faults => process::report(&format!("book: FAILED: {}", faults.join("\n"))),
    }
    Ok(faults.is_empty())
}

fn write_ptx() -> Result<()> {
    setup::for_builds()?;
    let mut modules = Vec::new();
    for module in ptx::build(&[NvvmArch::Compute80], false)? {
        let context = || format!("cannot read {}", module.path.display());
        modules.push(fs::read_to_string(&module.path).with_context(context)?);
    }
    let root = workspace::root();
    for (path, text) in shown_ptx(&root, &modules)? {
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The files of the PTX that the pages show, as these modules for sm_80 have it.
///
/// # Errors
///
/// If a kernel is in no module.
pub fn shown_ptx(root: &Path, modules: &[String]) -> Result<Vec<(PathBuf, String)>> {
    let of = |entry: &&str| {
        let body = modules.iter().find_map(|module| body(module, entry));
        let body = body.with_context(|| format!("no module has the kernel {entry}"))?;
        Ok((root.join("book/ptx").join(format!("{entry}.ptx")), body))
    };
    ENTRIES.iter().map(of).collect()
}

/// The kernel's PTX, with labels that do not depend on its place in the module.
fn body(module: &str, entry: &str) -> Option<String> {
    let (_, rest) = module.split_once(&format!("\n.visible .entry {entry}(\n"))?;
    let (body, _) = rest.split_once("\n}\n")?;
    let mut text = format!(".visible .entry {entry}(\n{}\n}}\n", body.trim_end());
    if let Some((_, label)) = body.split_once("$L__BB") {
        let number: String = label.chars().take_while(char::is_ascii_digit).collect();
        text = text.replace(&format!("$L__BB{number}_"), "$L");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_found_and_its_labels_are_its_own() {
        let module = ".version 7.0\n\t// .globl\ta\n.visible .entry a(\n)\n{\n\tret;\n\n}\n\
                      .visible .entry b(\n\t.param .u64 b_param_0\n)\n{\n$L__BB18_2:\n\tbra \t$L__BB18_2;\n\n}\n";
        assert_eq!(
            body(module, "a").unwrap(),
            ".visible .entry a(\n)\n{\n\tret;\n}\n"
        );
        assert!(
            body(module, "b")
                .unwrap()
                .ends_with("{\n$L2:\n\tbra \t$L2;\n}\n")
        );
        assert_eq!(body(module, "c"), None);
        let error = shown_ptx(Path::new(""), &[]).unwrap_err().to_string();
        assert!(
            error.contains("no module has the kernel reduce_naive_sum_i32"),
            "{error}"
        );
    }
}
