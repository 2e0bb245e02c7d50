//! Work captured as a CUDA graph, also that of other libraries.

use std::ptr;

use anyhow::Result;
use cust_raw::{CUgraph, CUgraphExec, CUstreamCaptureMode};
use warpfold::Device;

use crate::driver::checked;

/// An executable CUDA graph.
pub struct Graph(CUgraphExec);

impl Graph {
    /// Captures the work that `enqueue` enqueues on the device's stream; its memory must outlive the graph.
    pub fn capture(gpu: &Device, enqueue: impl FnOnce() -> Result<()>) -> Result<Self> {
        // Makes the device's context current, and empties the stream.
        gpu.synchronize()?;
        let stream = gpu.stream_ptr().cast();
        let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let (mut graph, mut exec): (CUgraph, CUgraphExec) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the stream is the device's and lives as long as `gpu`; the context is current (above).
        checked("cuStreamBeginCapture", unsafe {
            cust_raw::cuStreamBeginCapture_v2(stream, relaxed)
        })?;
        let enqueued = enqueue();
        // SAFETY: as above; the capture has begun, and must be ended also after an error.
        let ended = unsafe { cust_raw::cuStreamEndCapture(stream, &mut graph) };
        enqueued?;
        checked("cuStreamEndCapture", ended)?;
        // SAFETY: the graph is live.
        let status = unsafe { cust_raw::cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
        // SAFETY: the graph is live and not used again; `exec` does not depend on it.
        checked("cuGraphDestroy", unsafe { cust_raw::cuGraphDestroy(graph) })?;
        checked("cuGraphInstantiate", status)?;
        Ok(Self(exec))
    }

    /// Enqueues the graph on the device's stream, whose context must be current.
    pub fn launch(&self, gpu: &Device) -> Result<()> {
        // SAFETY: the graph is live (`self`), as is the stream (`gpu`).
        let launched = unsafe { cust_raw::cuGraphLaunch(self.0, gpu.stream_ptr().cast()) };
        checked("cuGraphLaunch", launched)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: `self` owns the graph; all its launches have been waited for (`Timer::time`). Later calls
        // report the same error again.
        let _ = unsafe { cust_raw::cuGraphExecDestroy(self.0) };
    }
}
