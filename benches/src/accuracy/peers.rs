//! The sums of other libraries: CUB on the same device, NumPy, PyTorch and `math.fsum` in a Python process.

use std::ffi::c_void;
use std::io::Write;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value as Json, json};
use tempfile::NamedTempFile;
use warpfold::{Buffer, Device};
use warpfold_results::accuracy::{By, Value};

use super::data::{CHUNK, Item};
use crate::peers::{Function, Peers};
use crate::python::Process;

const SOURCE: &str = include_str!("../../peers/accuracy.cu");
const SCRIPT: &str = include_str!("../../peers/accuracy.py");

/// The authors whose sums a Python process has, with their names in the script.
pub const IN_PYTHON: [(By, &str); 3] = [
    (By::Torch, "torch"),
    (By::Numpy, "numpy"),
    (By::Fsum, "fsum"),
];

type NumberFn = unsafe extern "C" fn() -> i32;

type SumFn = unsafe extern "C" fn(
    is_f64: i32,
    mode: i32,
    items: *const c_void,
    n: i32,
    result: *mut c_void,
    stream: *mut c_void,
) -> i32;

/// CUB's sums.
pub struct Cub {
    sum: Function<SumFn>,
    /// The versions of CUB and its compiler.
    pub version: String,
    /// Whether it has the mode `gpu_to_gpu`.
    pub has_gpu_to_gpu: bool,
}

impl Cub {
    /// Compiles CUB for this device.
    pub fn build(device: &Device) -> Result<Self> {
        let info = device.info().context("CUB needs a CUDA device")?;
        let peers = Peers::build(&[("accuracy.cu", SOURCE)], info.compute_capability)?;
        // SAFETY: SOURCE defines `cub_has_gpu_to_gpu` with this signature.
        let has_mode: Function<NumberFn> = unsafe { peers.function("cub_has_gpu_to_gpu") }?;
        // SAFETY: SOURCE defines `cub_keep_memory` with this signature.
        let keep_memory: Function<NumberFn> = unsafe { peers.function("cub_keep_memory") }?;
        // Makes the device's context current on this thread.
        device.synchronize()?;
        // SAFETY: the function changes only how long the current device's memory pool keeps memory.
        keep_memory.check(unsafe { keep_memory() }, "CUB, memory pool")?;
        Ok(Self {
            // SAFETY: SOURCE defines `cub_sum` with this signature.
            sum: unsafe { peers.function("cub_sum") }?,
            version: peers.built.version(),
            // SAFETY: the function only returns a constant.
            has_gpu_to_gpu: unsafe { has_mode() } != 0,
        })
    }

    /// The modes that this version has.
    pub fn modes(&self) -> impl Iterator<Item = By> + use<> {
        let mode = self.has_gpu_to_gpu.then_some(By::CubGpuToGpu);
        std::iter::once(By::Cub).chain(mode)
    }

    /// The sum in the default mode or in `gpu_to_gpu`.
    pub fn sum<T: Item>(&self, device: &Device, items: &Buffer<T>, by: By) -> Result<T> {
        let mut result = device.upload(&[T::rounded(0.0)])?;
        self.sum_into(device, items, &mut result, by)
    }

    /// The sum, for which `result` has room. Both buffers are on this device.
    pub fn sum_into<T: Item>(
        &self,
        device: &Device,
        items: &Buffer<T>,
        result: &mut Buffer<T>,
        by: By,
    ) -> Result<T> {
        ensure!(
            result.len() == 1,
            "room for {} results; must be 1",
            result.len()
        );
        let n = i32::try_from(items.len()).context("too many elements for CUB's int")?;
        let is_f64 = size_of::<T>() == size_of::<f64>();
        device.synchronize()?;
        // SAFETY:
        // - The call above has made the device's context current on this thread, and the stream lives as long as the
        //   device.
        // - Both buffers are live memory of this device until the download has waited for the stream. They have
        //   the type that `is_f64` says, one `n` elements, the other one.
        let status = unsafe {
            (self.sum)(
                is_f64.into(),
                (by == By::CubGpuToGpu).into(),
                items.as_device_ptr() as *const c_void,
                n,
                result.as_device_ptr() as *mut c_void,
                device.stream_ptr(),
            )
        };
        self.sum.check(status, "CUB")?;
        Ok(result.download()?[0])
    }
}

/// The Python process.
pub struct Python {
    process: Process,
    hello: Json,
}

impl Python {
    /// Starts the process; PyTorch uses the same device.
    pub fn start(device: &Device) -> Result<Self> {
        let index = device.info().map(|info| info.index.to_string());
        let arguments = [index.as_deref().unwrap_or("none")];
        let (process, hello) = Process::start(SCRIPT, &arguments)?;
        Ok(Self { process, hello })
    }

    /// The version of a library, or why it is absent.
    pub fn found(&self, name: &str) -> Result<String, String> {
        let library = &self.hello[name];
        match (library["version"].as_str(), library["absent"].as_str()) {
            (Some(version), _) => Ok(version.into()),
            (None, reason) => Err(reason.unwrap_or("python3 did not name it").into()),
        }
    }

    /// The sums by these libraries, in this order.
    pub fn sums<T: Item>(&mut self, items: &[T], names: &[&str]) -> Result<Vec<Result<Value>>> {
        let mut file = NamedTempFile::new()?;
        for chunk in items.chunks(CHUNK) {
            let written = file.write_all(&T::bytes(chunk));
            written.context("cannot write a temporary file")?;
        }
        let request = json!({ "file": file.path(), "element": T::NAME, "authors": names });
        let response = self.process.request(&request)?;
        Ok(names.iter().map(|name| sum_of(&response[*name])).collect())
    }
}

fn sum_of(response: &Json) -> Result<Value> {
    if let Some(error) = response["error"].as_str() {
        bail!("{error}");
    }
    let bits = response["bits"].as_str();
    ensure!(bits.is_some(), "unexpected response of python3: {response}");
    Value::of_bits(bits.unwrap_or_default()).map_err(anyhow::Error::msg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_sums_and_names_who_is_absent() {
        let Ok(mut python) = Python::start(&Device::cpu()) else {
            return;
        };
        assert!(python.found("fsum").unwrap().starts_with("Python 3"));
        assert!(python.found("torch").unwrap_err().contains("CUDA device"));
        let sums = python
            .sums(&[1e16, 1.0, -1e16], &["fsum", "torch"])
            .unwrap();
        assert_eq!(*sums[0].as_ref().unwrap(), Value::F64(1.0));
        assert!(sums[1].is_err());
        let sums = python.sums(&[0.1_f32, 0.2], &["fsum"]).unwrap();
        assert_eq!(*sums[0].as_ref().unwrap(), Value::F32(0.1 + 0.2));
    }
}
