//! npm's world: its configuration, its registry, and npm itself.

mod config;
mod lockfile;
mod registry;

pub(crate) use config::NpmConfig;
pub use config::{ConfigError, Environment};
pub(super) use lockfile::Lockfile;
pub(super) use registry::{authorized, latest, tarball};
