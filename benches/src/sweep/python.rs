//! PyTorch and CuPy, in a process of their own on the same device: `peers/reductions.py`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use kernels_gpu::element::Number;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use warpfold_results::schema::{By, Cache, Timing};

use super::options::Operation;
use super::subject::calls;
use crate::tool;

const SCRIPT: &str = include_str!("../../peers/reductions.py");

/// A Python process that has the library.
pub struct Python {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// In the library's own words.
    pub version: String,
    /// What the process runs.
    _script: NamedTempFile,
}

/// What one sample took, and what its runs gave: one over each copy of the elements, or the last.
pub struct Answers {
    pub us: f64,
    pub texts: Vec<String>,
}

/// Whether a library has the operator for elements of this name: products and moments of floats, as one call each.
pub fn has(by: By, operation: Operation, element: &str) -> bool {
    match (operation, by) {
        (Operation::Dot, _) => ["f32", "f64"].contains(&element),
        (Operation::MeanVariance, By::Torch) => ["f16", "bf16", "f32", "f64"].contains(&element),
        (Operation::MeanVariance, _) => false,
        _ => true,
    }
}

impl Python {
    /// Starts one on the device with this index; the error is the reason for going on without.
    pub fn start(by: By, device: u32, flush_bytes: usize) -> Result<Self> {
        let library = match by {
            By::Torch => "torch",
            _ => "cupy",
        };
        let python = tool::find("python3", []).context("there is no python3 on PATH")?;
        let mut script = NamedTempFile::with_suffix(".py")?;
        script.write_all(SCRIPT.as_bytes())?;
        let mut child = Command::new(python)
            .arg(script.path())
            .args([library, &device.to_string(), &flush_bytes.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start python3")?;
        let orders = child.stdin.take().context("a pipe to python3")?;
        let answers = BufReader::new(child.stdout.take().context("a pipe from python3")?);
        let mut python = Self {
            child,
            orders,
            answers,
            version: String::new(),
            _script: script,
        };
        let hello = python.answer()?;
        match hello["version"].as_str() {
            Some(version) => python.version = version.to_owned(),
            None => bail!(
                "{}",
                hello["absent"].as_str().unwrap_or("python3 says nothing")
            ),
        }
        Ok(python)
    }

    /// The elements of these files are what is reduced from now on: an array, and the second one of products.
    pub fn load<T: Number>(&mut self, [a, b]: &[NamedTempFile; 2]) -> Result<()> {
        self.order(&json!({ "load": [a.path(), b.path()], "element": T::NAME }))?;
        Ok(())
    }

    /// So is this element of the first array.
    pub fn set(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.order(&json!({ "set": index, "bytes": hex }))?;
        Ok(())
    }

    /// One sample of the first `n` elements reduced; of a batch so many `launches`.
    pub fn time(
        &mut self,
        op: &str,
        n: usize,
        (cache, timing): (Cache, Timing),
        launches: usize,
    ) -> Result<Answers> {
        let calls = calls(timing, launches);
        let order = json!({ "op": op, "n": n, "cache": cache, "timing": timing, "calls": calls });
        let answer = self.order(&order)?;
        let texts = answer["answers"].as_array().map(|texts| {
            let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        });
        match (answer["us"].as_f64(), texts.flatten()) {
            (Some(us), Some(texts)) if !texts.is_empty() => Ok(Answers { us, texts }),
            _ => bail!("python3 answers {answer}"),
        }
    }

    fn order(&mut self, order: &Value) -> Result<Value> {
        writeln!(self.orders, "{order}").context("python3 has gone")?;
        let answer = self.answer()?;
        match answer["error"].as_str() {
            Some(error) => bail!("{}: {error}", self.version),
            None => Ok(answer),
        }
    }

    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .context("python3 has gone")?;
        serde_json::from_str(&line).with_context(|| format!("python3 says {line:?}"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It may have gone by itself; nobody can be told of anything else.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the library, or without python3, the reason is given.
    #[test]
    fn what_is_absent_is_said() {
        let Err(error) = Python::start(By::Torch, 0, 1 << 20) else {
            return;
        };
        let text = error.to_string();
        assert!(
            ["no python3", "ModuleNotFoundError", "Error"]
                .iter()
                .any(|part| text.contains(part)),
            "{text}"
        );
    }
}
