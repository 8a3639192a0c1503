//! The npm workspaces of this repository.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::sh;

/// A directory with a `package-lock.json`.
pub(crate) struct NpmWorkspace {
    directory: PathBuf,
}

impl NpmWorkspace {
    /// The TypeScript packages.
    pub(crate) fn typescript() -> Self {
        Self { directory: sh::root().join("sdks/typescript") }
    }

    /// Other people's programs that check this one.
    pub(crate) fn checkers() -> Self {
        Self { directory: sh::root().join(".ci/npm") }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs `npm ci`, unless the same lock file is installed already.
    pub(crate) fn install(&self) -> anyhow::Result<()> {
        let lock = self.directory.join("package-lock.json");
        let lock = fs::read(&lock).with_context(|| format!("could not read {}", lock.display()))?;
        // The copy is in `node_modules`, so that it disappears together with the installed packages.
        let installed = self.directory.join("node_modules/.installed-lock.json");
        if fs::read(&installed).is_ok_and(|installed| installed == lock) {
            return Ok(());
        }
        if !sh::is_there("npm", &[]) {
            bail!("Node 20 or newer with npm is needed");
        }
        sh::status(self.npm().args(["ci", "--no-audit", "--no-fund"]))?;
        Ok(fs::write(installed, lock)?)
    }

    /// A command of npm.
    pub(crate) fn npm(&self) -> Command {
        let mut npm = sh::command("npm");
        npm.current_dir(&self.directory);
        npm
    }

    /// The path of an installed program.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.directory.join("node_modules/.bin").join(name)
    }

    /// A script of this workspace, which runs in the root of the checkout, with the Node of the TypeScript packages: that of the
    /// machine may be too old.
    pub(crate) fn script(&self, path: &str) -> anyhow::Result<Command> {
        let typescript = Self::typescript();
        typescript.install()?;
        let mut node = sh::command(typescript.program("node"));
        node.arg(self.directory.join(path));
        Ok(node)
    }
}
