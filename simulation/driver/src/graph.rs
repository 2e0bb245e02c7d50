//! Graphs: captured commands that can be launched again.

use std::ffi::c_ulonglong;

use cust_raw::{CUgraph, CUgraphExec, CUstream};

use crate::driver::entered;
use crate::functions::{functions, put};

functions! {
    fn cuGraphInstantiateWithFlags(
        executable: *mut CUgraphExec,
        graph: CUgraph,
        _flags: c_ulonglong,
    ) {
        let mut driver = entered()?;
        let commands = driver.graphs.get(graph)?.clone();
        let handle = driver.executables.add(commands);
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { put(executable, handle) }
    }

    fn cuGraphLaunch(executable: CUgraphExec, stream: CUstream) {
        let mut driver = entered()?;
        let commands = driver.executables.get(executable)?.clone();
        commands
            .into_iter()
            .try_for_each(|command| driver.submit(stream, command))
    }

    fn cuGraphExecDestroy(executable: CUgraphExec) {
        entered()?.executables.remove(executable).map(drop)
    }

    fn cuGraphDestroy(graph: CUgraph) {
        entered()?.graphs.remove(graph).map(drop)
    }
}
