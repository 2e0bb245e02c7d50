//! Architectures of PTX.

use std::fmt;

/// A virtual architecture: the oldest compute capability that a PTX module runs on.
///
/// PTX for one architecture also runs on all later ones, because the driver compiles it at load. The variants
/// with `a` run only on their own architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NvvmArch {
    /// Volta: compute capability 7.0.
    Compute70,
    /// Turing: compute capability 7.5.
    Compute75,
    /// Ampere, data centre: compute capability 8.0.
    Compute80,
    /// Ampere: compute capability 8.6.
    Compute86,
    /// Ampere, embedded: compute capability 8.7.
    Compute87,
    /// Ada: compute capability 8.9.
    Compute89,
    /// Hopper: compute capability 9.0.
    Compute90,
    /// Hopper with architecture-specific instructions (wgmma and others), for Hopper only.
    Compute90a,
    /// Blackwell, data centre: compute capability 10.0.
    Compute100,
    /// Blackwell: compute capability 12.0.
    Compute120,
}

impl NvvmArch {
    /// All architectures, oldest first.
    pub const ALL: [Self; 10] = [
        Self::Compute70,
        Self::Compute75,
        Self::Compute80,
        Self::Compute86,
        Self::Compute87,
        Self::Compute89,
        Self::Compute90,
        Self::Compute90a,
        Self::Compute100,
        Self::Compute120,
    ];

    /// Its name in LLVM and ptxas: `"sm_90"`.
    pub fn sm(self) -> &'static str {
        match self {
            Self::Compute70 => "sm_70",
            Self::Compute75 => "sm_75",
            Self::Compute80 => "sm_80",
            Self::Compute86 => "sm_86",
            Self::Compute87 => "sm_87",
            Self::Compute89 => "sm_89",
            Self::Compute90 => "sm_90",
            Self::Compute90a => "sm_90a",
            Self::Compute100 => "sm_100",
            Self::Compute120 => "sm_120",
        }
    }

    /// Major and minor number of the compute capability: `(9, 0)`.
    pub fn capability(self) -> (u32, u32) {
        match self {
            Self::Compute70 => (7, 0),
            Self::Compute75 => (7, 5),
            Self::Compute80 => (8, 0),
            Self::Compute86 => (8, 6),
            Self::Compute87 => (8, 7),
            Self::Compute89 => (8, 9),
            Self::Compute90 | Self::Compute90a => (9, 0),
            Self::Compute100 => (10, 0),
            Self::Compute120 => (12, 0),
        }
    }

    /// The oldest PTX ISA with the architecture and the instructions that kernels use, in LLVM's numbering:
    /// 78 is PTX 7.8. Older drivers accept only lower numbers.
    pub fn min_ptx_isa(self) -> u32 {
        match self {
            Self::Compute70 => 60,
            // 6.3 has the architecture, and 7.0 its `tanh`.
            Self::Compute75 => 70,
            Self::Compute80 => 70,
            Self::Compute86 => 71,
            Self::Compute87 => 74,
            Self::Compute89 | Self::Compute90 => 78,
            Self::Compute90a => 80,
            // 8.6 has the architecture, and 8.8 its 256-bit accesses, which LLVM emits from then on.
            Self::Compute100 => 88,
            Self::Compute120 => 87,
        }
    }

    /// The architecture with this name, in any of the usual forms: `sm_90`, `compute_90`, `90`.
    pub fn parse(name: &str) -> Option<Self> {
        let digits = name
            .strip_prefix("sm_")
            .or_else(|| name.strip_prefix("compute_"))
            .unwrap_or(name);
        Self::ALL.into_iter().find(|a| &a.sm()[3..] == digits)
    }
}

impl fmt::Display for NvvmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sm())
    }
}

#[cfg(test)]
mod tests {
    use super::NvvmArch;

    #[test]
    fn names_round_trip() {
        for arch in NvvmArch::ALL {
            assert_eq!(NvvmArch::parse(arch.sm()), Some(arch));
            assert_eq!(NvvmArch::parse(&arch.sm()[3..]), Some(arch));
        }
        assert_eq!(NvvmArch::parse("sm_91"), None);
        assert_eq!(NvvmArch::parse(""), None);
    }
}
