//! Runs other programs from the root of the checkout.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// A command that runs in the root of the checkout.
pub(crate) fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(root());
    command
}

/// Splits `line` at white space, runs it and returns an error if it fails.
pub(crate) fn run(line: &str) -> anyhow::Result<()> {
    let mut words = line.split_whitespace();
    let mut command = command(words.next().context("a program to run")?);
    status(command.args(words))
}

/// Runs a command and returns an error if it fails.
pub(crate) fn status(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("could not run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}

/// Returns whether a program is installed: it succeeds with `--version`.
pub(crate) fn is_there(program: &str, args: &[&str]) -> bool {
    let output = command(program).args(args).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Runs a command and returns its standard output, or an error with its standard error if it fails.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("could not run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// Builds the product for development and returns the path of its binary.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    build_program("tombolo")
}

/// Builds a program of the workspace for development and returns its path.
///
/// It is built with the features of the whole workspace, as the tests are: `--package` alone would select other features
/// and compile every dependency a second time.
pub(crate) fn build_program(name: &str) -> anyhow::Result<PathBuf> {
    run(&format!("cargo build --quiet --workspace --bin {name}"))?;
    Ok(target_dir()?.join("debug").join(name))
}

/// The target directory of cargo.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    // This program is `<target>/debug/xtask`.
    let own = std::env::current_exe()?;
    Ok(own.ancestors().nth(2).context("a target directory")?.to_path_buf())
}
