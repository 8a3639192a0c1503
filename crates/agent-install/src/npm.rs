//! npm's world: its configuration, its registry, and npm itself.

mod config;
mod lockfile;
mod registry;

pub use config::ConfigError;
pub(crate) use config::NpmConfig;
pub(super) use lockfile::Lockfile;
pub(super) use registry::{authorized, latest, tarball};
