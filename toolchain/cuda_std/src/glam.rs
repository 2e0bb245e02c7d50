//! The two vectors that index a grid, with the names and members of the `glam` crate.
//!
//! Rust-CUDA re-exports all of `glam` here. A reduction needs no linear algebra, and every kernel
//! crate would compile it anew for the device.

/// Two `u32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct UVec2 {
    /// Along x, the dimension that varies fastest.
    pub x: u32,
    /// Along y.
    pub y: u32,
}

impl UVec2 {
    /// Both zero.
    pub const ZERO: Self = Self::new(0, 0);

    /// Makes one from its members.
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
    /// Along x, the dimension that varies fastest.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl UVec3 {
    /// All zero.
    pub const ZERO: Self = Self::new(0, 0, 0);

    /// Makes one from its members.
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
