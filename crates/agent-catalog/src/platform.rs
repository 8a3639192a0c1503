//! The machine that programs must be made for.

use std::{fmt, path::Path, str::FromStr};

use serde::{Deserialize, Serialize};

/// A machine that agents can be installed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Platform {
    /// Linux on x86-64 with the GNU C library.
    LinuxX64,
    /// Linux on x86-64 with musl.
    LinuxX64Musl,
    /// Linux on ARM64 with the GNU C library.
    LinuxArm64,
    /// Linux on ARM64 with musl.
    LinuxArm64Musl,
    /// macOS on Apple silicon.
    DarwinArm64,
    /// macOS on Intel.
    DarwinX64,
}

/// A machine that no agent is made for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no agents are available for the platform `{0}`")]
pub struct UnknownPlatform(String);

impl Platform {
    /// Every platform.
    pub const ALL: [Platform; 6] = [
        Platform::LinuxX64,
        Platform::LinuxX64Musl,
        Platform::LinuxArm64,
        Platform::LinuxArm64Musl,
        Platform::DarwinArm64,
        Platform::DarwinX64,
    ];

    /// This machine.
    pub fn here() -> Result<Self, UnknownPlatform> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        match (os, arch, uses_musl()) {
            ("linux", "x86_64", false) => Ok(Platform::LinuxX64),
            ("linux", "x86_64", true) => Ok(Platform::LinuxX64Musl),
            ("linux", "aarch64", false) => Ok(Platform::LinuxArm64),
            ("linux", "aarch64", true) => Ok(Platform::LinuxArm64Musl),
            ("macos", "aarch64", _) => Ok(Platform::DarwinArm64),
            ("macos", "x86_64", _) => Ok(Platform::DarwinX64),
            _ => Err(UnknownPlatform(format!("{os}-{arch}"))),
        }
    }

    /// Its name in the catalog.
    pub fn as_str(self) -> &'static str {
        match self {
            Platform::LinuxX64 => "linux-x64",
            Platform::LinuxX64Musl => "linux-x64-musl",
            Platform::LinuxArm64 => "linux-arm64",
            Platform::LinuxArm64Musl => "linux-arm64-musl",
            Platform::DarwinArm64 => "darwin-arm64",
            Platform::DarwinX64 => "darwin-x64",
        }
    }

    /// Its name in the ACP registry, which does not tell C libraries apart.
    pub fn in_registry(self) -> &'static str {
        match self {
            Platform::LinuxX64 | Platform::LinuxX64Musl => "linux-x86_64",
            Platform::LinuxArm64 | Platform::LinuxArm64Musl => "linux-aarch64",
            Platform::DarwinArm64 => "darwin-aarch64",
            Platform::DarwinX64 => "darwin-x86_64",
        }
    }
}

/// Whether programs that are linked against the GNU C library cannot run here, but those against musl can.
///
/// We may be linked statically ourselves, so it is the machine that is asked and not how we were built.
fn uses_musl() -> bool {
    let gnu = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let musl = ["/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"];
    let there = |loaders: [&str; 2]| loaders.iter().any(|loader| Path::new(loader).exists());
    !there(gnu) && there(musl)
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Platform {
    type Err = UnknownPlatform;

    fn from_str(text: &str) -> Result<Self, UnknownPlatform> {
        let found = Self::ALL.into_iter().find(|platform| platform.as_str() == text);
        found.ok_or_else(|| UnknownPlatform(text.to_owned()))
    }
}

impl TryFrom<String> for Platform {
    type Error = UnknownPlatform;

    fn try_from(text: String) -> Result<Self, UnknownPlatform> {
        text.parse()
    }
}

impl From<Platform> for String {
    fn from(platform: Platform) -> Self {
        platform.as_str().into()
    }
}
