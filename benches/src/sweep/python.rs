//! PyTorch and CuPy, each in its own process on the same device: `peers/reductions.py`.

use anyhow::{Result, bail};
use kernels_gpu::element::Number;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use warpfold_results::schema::{By, Cache, Timing};

use super::options::Operation;
use super::subject::calls;
use crate::python::Process;

const SCRIPT: &str = include_str!("../../peers/reductions.py");

/// A Python process with one of the libraries.
pub struct Python {
    process: Process,
    /// The library's name and version.
    pub version: String,
}

/// The time of a sample and its answers: one for each copy of the elements, or the last.
pub struct Answers {
    pub us: f64,
    pub texts: Vec<String>,
}

/// Whether one call of a library reduces this element type: dot products and moments only of floats.
pub fn has(by: By, operation: Operation, element: &str) -> bool {
    match (operation, by) {
        (Operation::Dot, _) => ["f32", "f64"].contains(&element),
        (Operation::MeanVariance, By::Torch) => ["f16", "bf16", "f32", "f64"].contains(&element),
        (Operation::MeanVariance, _) => false,
        _ => true,
    }
}

impl Python {
    /// Starts a process on this device. After an error the sweep continues without the library.
    pub fn start(by: By, device: u32, flush_bytes: usize) -> Result<Self> {
        let library = match by {
            By::Torch => "torch",
            _ => "cupy",
        };
        let arguments = [library, &device.to_string(), &flush_bytes.to_string()];
        let (process, hello) = Process::start(SCRIPT, &arguments)?;
        match (hello["version"].as_str(), hello["absent"].as_str()) {
            (Some(version), _) => Ok(Self {
                process,
                version: version.to_owned(),
            }),
            (None, reason) => bail!(
                "{}",
                reason.unwrap_or("python3 sent neither a version nor an error")
            ),
        }
    }

    /// Loads the elements of these files: the input array, and the second array of dot products.
    pub fn load<T: Number>(&mut self, [a, b]: &[NamedTempFile; 2]) -> Result<()> {
        self.request(&json!({ "load": [a.path(), b.path()], "element": T::NAME }))?;
        Ok(())
    }

    /// Overwrites an element of the first array.
    pub fn set(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.request(&json!({ "set": index, "bytes": hex }))?;
        Ok(())
    }

    /// Times one sample of reductions of the first `n` elements; a batch has `launches` calls.
    pub fn time(
        &mut self,
        op: &str,
        n: usize,
        (cache, timing): (Cache, Timing),
        launches: usize,
    ) -> Result<Answers> {
        let calls = calls(timing, launches);
        let request = json!({ "op": op, "n": n, "cache": cache, "timing": timing, "calls": calls });
        let response = self.request(&request)?;
        let texts = response["answers"].as_array().map(|texts| {
            let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        });
        match (response["us"].as_f64(), texts.flatten()) {
            (Some(us), Some(texts)) if !texts.is_empty() => Ok(Answers { us, texts }),
            _ => bail!("unexpected response of python3: {response}"),
        }
    }

    /// The times in microseconds of a request for parts of the first array: axes, or segments by offsets.
    pub fn parts(&mut self, request: &Value) -> Result<Vec<f64>> {
        let response = self.request(request)?;
        let times = response["us"].as_array().map(|times| {
            let times = times.iter().map(Value::as_f64);
            times.collect::<Option<Vec<_>>>()
        });
        match times.flatten() {
            Some(times) => Ok(times),
            None => bail!("unexpected response of python3: {response}"),
        }
    }

    fn request(&mut self, request: &Value) -> Result<Value> {
        let response = self.process.request(request)?;
        match response["error"].as_str() {
            Some(error) => bail!("{}: {error}", self.version),
            None => Ok(response),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_reported() {
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
