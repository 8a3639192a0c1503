//! Running other programs from the root of the checkout.

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

/// A program, run from the root.
pub(crate) fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(root());
    command
}

/// Runs `program` with arguments that are words, and fails if it does.
pub(crate) fn run(line: &str) -> anyhow::Result<()> {
    let mut words = line.split_whitespace();
    let mut command = command(words.next().context("a program to run")?);
    status(command.args(words))
}

/// Runs a command and fails if it does.
pub(crate) fn status(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("could not run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}

/// Whether a program answers to `--version`.
pub(crate) fn is_there(program: &str, args: &[&str]) -> bool {
    let output = command(program).args(args).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Builds the product and tells where it is.
pub(crate) fn build() -> anyhow::Result<PathBuf> {
    run("cargo build --quiet --package cli")?;
    let target = target_dir()?;
    Ok(target.join("debug/tombolo"))
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    // This program lies in `<target>/debug`.
    let own = std::env::current_exe()?;
    Ok(own.ancestors().nth(2).context("a target directory")?.to_path_buf())
}
