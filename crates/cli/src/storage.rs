//! The directories that Tombolo uses on this machine.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::environment::variable;

/// The data directory: `--data-dir`, or `tombolo` in the user's data directory.
pub(crate) fn data_dir(option: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(directory) = option {
        return Ok(directory.to_path_buf());
    }
    let base = user_dir("XDG_DATA_HOME", ".local/share");
    let base = base.context("neither HOME nor XDG_DATA_HOME is set: pass --data-dir")?;
    Ok(base.join("tombolo"))
}

/// The directory for downloaded files; `None` if the user has no home directory.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    let configured = variable("TOMBOLO_CACHE_DIR").map(PathBuf::from);
    configured.or_else(|| Some(user_dir("XDG_CACHE_HOME", ".cache")?.join("tombolo")))
}

/// The home directory of the user.
pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

/// The directory in the environment variable `name`, or `below_home` in the home directory. The XDG specification
/// ignores relative paths in these variables.
fn user_dir(name: &str, below_home: &str) -> Option<PathBuf> {
    let configured = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    configured.or_else(|| Some(home()?.join(below_home)))
}
