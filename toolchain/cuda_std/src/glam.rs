//! Vectors of grid indices, with the names and members of the crate `glam`.
//!
//! Rust-CUDA re-exports the whole crate. A reduction needs no linear algebra, and every crate of kernels
//! would have to compile it for the device.

/// Two `u32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct UVec2 {
    /// The x component, which varies fastest.
    pub x: u32,
    /// The y component.
    pub y: u32,
}

impl UVec2 {
    /// (0, 0).
    pub const ZERO: Self = Self::new(0, 0);

    /// Creates a vector from its components.
    #[inline(always)]
    pub const fn new(x: u32, y: u32) -> Self {
        Self { x, y }
    }

    /// `x * y`.
    #[inline(always)]
    pub const fn element_product(self) -> u32 {
        self.x * self.y
    }
}

/// Three `u32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct UVec3 {
    /// The x component, which varies fastest.
    pub x: u32,
    /// The y component.
    pub y: u32,
    /// The z component.
    pub z: u32,
}

impl UVec3 {
    /// (0, 0, 0).
    pub const ZERO: Self = Self::new(0, 0, 0);

    /// Creates a vector from its components.
    #[inline(always)]
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// `x * y * z`.
    #[inline(always)]
    pub const fn element_product(self) -> u32 {
        self.x * self.y * self.z
    }
}
