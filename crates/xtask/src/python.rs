//! Python environments for tools, outside the checkout.

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::sh;

/// A virtual environment with pinned packages.
pub(crate) struct PythonEnvironment {
    directory: PathBuf,
}

impl PythonEnvironment {
    /// Installs `packages` into the environment `name`, unless it is there. The name changes with the versions.
    pub(crate) fn install(name: &str, packages: &[&str]) -> anyhow::Result<Self> {
        let environment = Self { directory: cache()?.join(name) };
        // Written last: an interrupted installation is done again.
        let complete = environment.directory.join(".complete");
        if complete.exists() {
            return Ok(environment);
        }
        if !sh::is_there("python3", &["-m", "pip"]) {
            bail!("python3 with pip and venv is needed for {name} (Debian: python3-pip python3-venv)");
        }
        let _ = std::fs::remove_dir_all(&environment.directory);
        sh::status(sh::command("python3").args(["-m", "venv"]).arg(&environment.directory))?;
        let mut pip = sh::command(environment.program("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        sh::status(&mut pip)?;
        std::fs::write(complete, "")?;
        Ok(environment)
    }

    /// The path of an installed program.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.directory.join("bin").join(name)
    }
}

/// The user's cache directory. Deleting it only costs time.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask is a program of its own and reads its configuration here"
)]
fn cache() -> anyhow::Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Ok(base.or_else(home).context("neither HOME nor XDG_CACHE_HOME is set")?.join("tombolo"))
}
