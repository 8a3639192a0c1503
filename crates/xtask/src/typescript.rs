//! Builds, lints and tests the TypeScript packages, and checks that they can be published.

use std::path::PathBuf;

use crate::{dist, npm::NpmWorkspace, sh, system, test_summary};

/// npm scripts that run before the tests, fastest first.
const SCRIPTS: &[&str] = &["lint", "build", "api", "size", "publint", "attw"];

pub(crate) fn run() -> anyhow::Result<()> {
    let workspace = NpmWorkspace::typescript();
    workspace.install()?;
    system::install("chromium", "chromium", "the tests in a browser")?;
    for script in SCRIPTS {
        sh::status(workspace.npm().args(["run", "--silent", script]))?;
    }
    let report = format!("--outputFile.json={}", test_summary::vitest_path()?.display());
    let reporters = ["--reporter=default", "--reporter=json", &report];
    sh::status(
        workspace.npm().args(["run", "--silent", "test", "--"]).args(reporters).envs(test_environment()?),
    )
}

/// Builds the packages.
pub(crate) fn build() -> anyhow::Result<()> {
    let workspace = NpmWorkspace::typescript();
    workspace.install()?;
    sh::status(workspace.npm().args(["run", "--silent", "build"]))
}

/// Generates the types from the documents in `docs`; with `check`, fails if the committed ones differ.
pub(crate) fn codegen(check: bool) -> anyhow::Result<()> {
    let workspace = NpmWorkspace::typescript();
    workspace.install()?;
    let mut npm = workspace.npm();
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
