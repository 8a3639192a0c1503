//! The TypeScript packages: built, linted, tested against the real daemon, and fit to be published.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{dist, sh, system, test_summary};

/// What is checked before the tests, in the order in which it fails fastest.
const SCRIPTS: &[&str] = &["lint", "build", "api", "size", "publint", "attw"];

pub(crate) fn run() -> anyhow::Result<()> {
    let workspace = workspace();
    install(&workspace)?;
    system::install("chromium", "chromium", "the tests in a browser")?;
    for script in SCRIPTS {
        sh::status(npm(&workspace).args(["run", "--silent", script]))?;
    }
    let report = format!("--outputFile.json={}", test_summary::vitest_path()?.display());
    let reporters = ["--reporter=default", "--reporter=json", &report];
    sh::status(npm(&workspace).args(["run", "--silent", "test", "--"]).args(reporters).envs(programs()?))
}

/// Builds the packages.
pub(crate) fn build() -> anyhow::Result<()> {
    let workspace = workspace();
    install(&workspace)?;
    sh::status(npm(&workspace).args(["run", "--silent", "build"]))
}

/// Writes the types that are made from the documents in `docs`.
pub(crate) fn codegen(check: bool) -> anyhow::Result<()> {
    let workspace = workspace();
    install(&workspace)?;
    let mut npm = npm(&workspace);
    npm.args(["run", "--silent", "codegen"]);
    if check {
        npm.args(["--", "--check"]);
    }
    sh::status(&mut npm)
}

/// What the tests run, the packages that they install, and where they install agents: once for them and for the tests
/// of the daemon.
fn programs() -> anyhow::Result<[(&'static str, PathBuf); 4]> {
    let product = sh::build()?;
    sh::run("cargo build --quiet --workspace --bin scripted-model")?;
    let target = sh::target_dir()?;
    Ok([
        ("TOMBOLO_DIST", dist::unreleased(&product)?),
        ("TOMBOLO_BIN", product),
        ("SCRIPTED_MODEL_BIN", target.join("debug/scripted-model")),
        ("TOMBOLO_AGENTS", target.join("tmp/agents")),
    ])
}

/// Where the packages lie.
pub(crate) fn workspace() -> PathBuf {
    sh::root().join("sdks/typescript")
}

/// Installs what the lock file says, unless that was done already.
fn install(workspace: &Path) -> anyhow::Result<()> {
    let lock = fs::read(workspace.join("package-lock.json")).context("could not read package-lock.json")?;
    // Lies among what is installed, so that it is gone when that is.
    let installed = workspace.join("node_modules/.installed-lock.json");
    if fs::read(&installed).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    if !sh::is_there("npm", &[]) {
        bail!("Node 20 or newer with npm is needed");
    }
    sh::status(npm(workspace).args(["ci", "--no-audit", "--no-fund"]))?;
    Ok(fs::write(installed, lock)?)
}

fn npm(workspace: &Path) -> Command {
    let mut npm = sh::command("npm");
    npm.current_dir(workspace);
    npm
}
