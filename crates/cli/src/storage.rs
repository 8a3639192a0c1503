//! Where things are kept on this machine.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::environment::variable;

/// Where a daemon keeps its own files: what was said, or the user's place for such.
pub(crate) fn data_dir(said: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(directory) = said {
        return Ok(directory.to_path_buf());
    }
    let base = place("XDG_DATA_HOME", ".local/share");
    let base = base.context("neither HOME nor XDG_DATA_HOME is set: say --data-dir")?;
    Ok(base.join("tombolo"))
}

/// Where downloads are kept for the next time; nowhere if there is no such place.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    let said = variable("TOMBOLO_CACHE_DIR").map(PathBuf::from);
    said.or_else(|| Some(place("XDG_CACHE_HOME", ".cache")?.join("tombolo")))
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

/// A place that a variable names, or else one below the user's home.
fn place(name: &str, below_home: &str) -> Option<PathBuf> {
    let said = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    said.or_else(|| Some(home()?.join(below_home)))
}
