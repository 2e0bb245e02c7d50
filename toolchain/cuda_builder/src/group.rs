//! Kernels that become a module of their own.

use crate::CudaBuilderError;
use std::collections::BTreeSet;

/// A module's name, and the kernels in it.
#[derive(Clone, Debug, Hash)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) kernels: BTreeSet<String>,
}

/// Whether `groups`, if there are any, are made of the crate's `kernels` and leave out none.
pub(crate) fn check(groups: &[Group], kernels: &BTreeSet<String>) -> Result<(), CudaBuilderError> {
    let mut left = kernels.clone();
    for group in groups {
        if group.kernels.is_empty() {
            return Err(CudaBuilderError::EmptyGroup {
                group: group.name.clone(),
            });
        }
        let absent: Vec<_> = group.kernels.difference(kernels).cloned().collect();
        if !absent.is_empty() {
            return Err(CudaBuilderError::AbsentKernels {
                group: group.name.clone(),
                kernels: absent,
            });
        }
        left.retain(|kernel| !group.kernels.contains(kernel));
    }
    if groups.is_empty() || left.is_empty() {
        return Ok(());
    }
    Err(CudaBuilderError::UngroupedKernels {
        kernels: left.into_iter().collect(),
    })
}
