//! Work recorded as a CUDA graph, whoever enqueues it.

use std::ptr;

use anyhow::Result;
use cust_raw::{CUgraph, CUgraphExec, CUstreamCaptureMode};
use warpfold::Device;

use crate::driver::checked;

/// What can be launched again.
pub struct Graph(CUgraphExec);

impl Graph {
    /// Records what `enqueue` puts on the device's stream. Whatever it uses outlives the graph.
    pub fn record(gpu: &Device, enqueue: impl FnOnce() -> Result<()>) -> Result<Self> {
        // Makes the device's context current, and leaves nothing on the stream.
        gpu.synchronize()?;
        let stream = gpu.stream_ptr().cast();
        let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let (mut graph, mut exec): (CUgraph, CUgraphExec) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the stream is the device's and lives as long as `gpu`; the context is current (above).
        checked("cuStreamBeginCapture", unsafe {
            cust_raw::cuStreamBeginCapture_v2(stream, relaxed)
        })?;
        let enqueued = enqueue();
        // SAFETY: as above; the capture has begun, and is ended whatever became of it.
        let ended = unsafe { cust_raw::cuStreamEndCapture(stream, &mut graph) };
        enqueued?;
        checked("cuStreamEndCapture", ended)?;
        // SAFETY: the graph is live.
        let made = unsafe { cust_raw::cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
        // SAFETY: the graph is live, and nobody's any more; what was made of it stays.
        checked("cuGraphDestroy", unsafe { cust_raw::cuGraphDestroy(graph) })?;
        checked("cuGraphInstantiate", made)?;
        Ok(Self(exec))
    }

    /// Puts it on the device's stream, whose context is current.
    pub fn launch(&self, gpu: &Device) -> Result<()> {
        // SAFETY: the graph is live (`self`), as is the stream (`gpu`).
        let launched = unsafe { cust_raw::cuGraphLaunch(self.0, gpu.stream_ptr().cast()) };
        checked("cuGraphLaunch", launched)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the graph is this one's alone; every launch of it has been waited for (`Stage::time`).
        // An error here says what later calls will say.
        let _ = unsafe { cust_raw::cuGraphExecDestroy(self.0) };
    }
}
