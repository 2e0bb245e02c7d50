//! Global memory: every allocation is a buffer of the simulator with exactly the requested size.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uchar, c_uint, c_void};
use std::ptr;

use cuda_sim::Buffer;
use cust_raw::{
    CUdeviceptr, CUmemorytype, CUpointer_attribute, CUresult, CUresult::CUDA_ERROR_INVALID_VALUE,
    CUstream,
};

use crate::commands::Command;
use crate::driver::{CURRENT, entered};
use crate::functions::{functions, put};

/// The size of the device's memory in bytes.
pub const TOTAL: usize = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Device,
    /// Page-locked host memory.
    Host,
}

struct Allocation {
    buffer: Buffer<u8>,
    kind: Kind,
}

/// All allocations, by address.
#[derive(Default)]
pub struct Memory(BTreeMap<u64, Allocation>);

impl Memory {
    /// The size of all allocations in bytes.
    pub fn used(&self) -> usize {
        self.0.values().map(|a| a.buffer.len()).sum()
    }

    fn used_of_device(&self) -> usize {
        let device = self.0.values().filter(|a| a.kind == Kind::Device);
        device.map(|a| a.buffer.len()).sum()
    }

    fn allocate(&mut self, bytes: usize, kind: Kind) -> Result<u64, CUresult> {
        if bytes == 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        if bytes > TOTAL - self.used_of_device() {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        let buffer = Buffer::<u8>::uninitialised(bytes);
        let address = buffer.as_mut_ptr().expose_provenance() as u64;
        self.0.insert(address, Allocation { buffer, kind });
        Ok(address)
    }

    fn free(&mut self, address: u64, kind: Kind) -> Result<(), CUresult> {
        let exists = self.0.get(&address).is_some_and(|a| a.kind == kind);
        if !exists {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        self.0.remove(&address);
        Ok(())
    }

    /// The length of the allocation that contains the address or ends at it, and the address's offset.
    pub fn locate(&self, address: u64) -> Option<(usize, usize)> {
        let (start, allocation) = self.0.range(..=address).next_back()?;
        let (len, offset) = (allocation.buffer.len(), (address - start) as usize);
        (offset <= len).then_some((len, offset))
    }

    /// The allocation that contains this range, and the range's offset.
    fn find(&mut self, address: u64, bytes: usize) -> Result<(&mut Allocation, usize), CUresult> {
        let location = self.locate(address);
        let location = location.filter(|(len, offset)| bytes <= len - offset);
        let (_, offset) = location.ok_or(CUDA_ERROR_INVALID_VALUE)?;
        let allocation = self.0.get_mut(&(address - offset as u64));
        Ok((allocation.ok_or(CUDA_ERROR_INVALID_VALUE)?, offset))
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), CUresult> {
        let (allocation, offset) = self.find(address, bytes.len())?;
        allocation.buffer.write_from(offset, bytes);
        Ok(())
    }

    /// A pointer for reading this many bytes.
    pub fn read(&mut self, address: u64, bytes: usize) -> Result<*const u8, CUresult> {
        let (allocation, offset) = self.find(address, bytes)?;
        Ok(allocation.buffer.as_ptr().wrapping_add(offset))
    }
}

/// Executes a command of a function that waits and has no stream.
fn run_now(command: Command) -> Result<(), CUresult> {
    let mut driver = entered()?;
    driver.forbid_unsafe_in_captures()?;
    driver.run(&command)
}

functions! {
    fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) {
        let mut driver = entered()?;
        driver.forbid_unsafe_in_captures()?;
        let allocated = driver.memory.allocate(bytes, Kind::Device)?;
        // SAFETY: the caller passes a pointer to an address.
        unsafe { put(address, allocated) }
    }

    fn cuMemFree_v2(address: CUdeviceptr) {
        let mut driver = entered()?;
        driver.forbid_unsafe_in_captures()?;
        driver.memory.free(address, Kind::Device)
    }

    fn cuMemAllocHost_v2(address: *mut *mut c_void, bytes: usize) {
        let mut driver = entered()?;
        driver.forbid_unsafe_in_captures()?;
        let allocated = driver.memory.allocate(bytes, Kind::Host)?;
        // SAFETY: the caller passes a pointer to an address.
        unsafe { put(address, ptr::with_exposed_provenance_mut(allocated as usize)) }
    }

    fn cuMemFreeHost(address: *mut c_void) {
        let mut driver = entered()?;
        driver.forbid_unsafe_in_captures()?;
        driver.memory.free(address.addr() as u64, Kind::Host)
    }

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let driver = entered()?;
        let left = TOTAL - driver.memory.used_of_device();
        // SAFETY: the caller passes two pointers to sizes.
        unsafe { put(free, left).and_then(|()| put(total, TOTAL)) }
    }

    fn cuMemsetD8Async(to: CUdeviceptr, byte: c_uchar, bytes: usize, stream: CUstream) {
        entered()?.submit(stream, Command::Fill { to, byte, bytes })
    }

    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) {
        let from = from.expose_provenance();
        entered()?.submit(stream, Command::ToDevice { to, from, bytes })
    }

    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream) {
        let to = to.expose_provenance();
        entered()?.submit(stream, Command::ToHost { to, from, bytes })
    }

    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) {
        entered()?.submit(stream, Command::OnDevice { to, from, bytes })
    }

    fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) {
        let from = from.expose_provenance();
        run_now(Command::ToDevice { to, from, bytes })
    }

    fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) {
        let to = to.expose_provenance();
        run_now(Command::ToHost { to, from, bytes })
    }

    fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        run_now(Command::OnDevice { to, from, bytes })
    }

    fn cuPointerGetAttribute(
        data: *mut c_void,
        attribute: CUpointer_attribute,
        address: CUdeviceptr,
    ) {
        use CUpointer_attribute::*;
        let mut driver = entered()?;
        let (allocation, offset) = driver.memory.find(address, 1)?;
        let (kind, len) = (allocation.kind, allocation.buffer.len());
        // SAFETY: the caller passes a pointer to the attribute's value.
        unsafe {
            match attribute {
                CU_POINTER_ATTRIBUTE_CONTEXT => put(data.cast(), CURRENT.get()),
                CU_POINTER_ATTRIBUTE_MEMORY_TYPE => put(data.cast::<c_uint>(), match kind {
                    Kind::Device => CUmemorytype::CU_MEMORYTYPE_DEVICE,
                    Kind::Host => CUmemorytype::CU_MEMORYTYPE_HOST,
                } as c_uint),
                CU_POINTER_ATTRIBUTE_DEVICE_POINTER => put(data.cast(), address),
                CU_POINTER_ATTRIBUTE_HOST_POINTER if kind == Kind::Host => put(data.cast(), address),
                CU_POINTER_ATTRIBUTE_IS_MANAGED => put(data.cast::<c_uint>(), 0),
                CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => put(data.cast::<c_int>(), 0),
                CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => put(data.cast(), address - offset as u64),
                CU_POINTER_ATTRIBUTE_RANGE_SIZE => put(data.cast(), len),
                _ => Err(CUDA_ERROR_INVALID_VALUE),
            }
        }
    }
}
