//! Builds, lints and tests the TypeScript packages, and checks that they can be published.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{dist, sh, system, test_summary};

/// npm scripts that run before the tests, fastest first.
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
    sh::status(
        npm(&workspace).args(["run", "--silent", "test", "--"]).args(reporters).envs(test_environment()?),
    )
}

/// Builds the packages.
pub(crate) fn build() -> anyhow::Result<()> {
    let workspace = workspace();
    install(&workspace)?;
    sh::status(npm(&workspace).args(["run", "--silent", "build"]))
}

/// Generates the types from the documents in `docs`; with `check`, fails if the committed ones differ.
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

/// Environment variables of the tests: the programs and packages to test, and a directory for installed agents, which the
/// tests of the daemon use too.
fn test_environment() -> anyhow::Result<[(&'static str, PathBuf); 4]> {
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

/// The npm workspace.
pub(crate) fn workspace() -> PathBuf {
    sh::root().join("sdks/typescript")
}

/// Runs `npm ci`, unless the same lock file is installed already.
fn install(workspace: &Path) -> anyhow::Result<()> {
    let lock = fs::read(workspace.join("package-lock.json")).context("could not read package-lock.json")?;
    // The copy is in `node_modules`, so that it disappears together with the installed packages.
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
