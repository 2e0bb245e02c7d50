//! `cargo xtask book`: builds the book's web site, and opens some of its pages in a browser.

pub mod opened;

use crate::sass::{self, loops, parse::Function};
use crate::{browser, process, ptx, setup, workspace};
use anyhow::{Context, Result, bail};
use cuda_builder::{NvvmArch, Ptx};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Write the generated parts of the book's pages again, and build its web site
#[derive(clap::Args)]
pub struct Args {
    /// First build the kernels, and write the PTX and the machine code that the pages show
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

/// The module of the copies, and its kernels whose loops the pages count.
const LOOPS: (&str, [&str; 3]) = (
    "copy",
    ["copy_scalar_b32", "copy_vec2_b32", "copy_vec4_b32"],
);

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
    let tools = setup::for_sass()?;
    let mut modules = Vec::new();
    let built = ptx::build(&[NvvmArch::Compute80], false)?;
    let copies = built
        .iter()
        .filter(|module| module.module.as_deref() == Some(LOOPS.0));
    let copies = copies.map(|module| Ptx {
        arch: NvvmArch::Compute90,
        ..module.clone()
    });
    let copies = sass::assemble(&tools, &copies.collect::<Vec<_>>(), false)?;
    for module in built {
        let context = || format!("cannot read {}", module.path.display());
        modules.push(fs::read_to_string(&module.path).with_context(context)?);
    }
    let root = workspace::root();
    let loops = shown_loops(&root, &copies.functions)?;
    for (path, text) in shown_ptx(&root, &modules)?.into_iter().chain(loops) {
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

/// The files of the loops that the pages count, as these functions for sm_90 have them.
///
/// # Errors
///
/// If a kernel is missing, or has no loop.
pub fn shown_loops(root: &Path, functions: &[Function]) -> Result<Vec<(PathBuf, String)>> {
    let of = |entry: &&str| {
        let function = functions.iter().find(|function| function.name == **entry);
        let code = function.and_then(loops::of_widest_load);
        let code = code.with_context(|| format!("there is no loop of {entry}"))?;
        let file = root.join("book/sass").join(format!("{entry}.sass"));
        Ok((file, loops::text(code)))
    };
    LOOPS.1.iter().map(of).collect()
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
