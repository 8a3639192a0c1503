//! Tests a running daemon against its own OpenAPI document with schemathesis: no 5xx, and no response that the document does
//! not describe.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
};

use anyhow::{Context, bail};

use crate::sh;

const VERSION: &str = "4.32.5";

/// Enough examples to give every parameter every kind of wrong value, in about two minutes.
const EXAMPLES: &str = "40";

/// The daemon requires a token, so that requests without one are tested too.
const TOKEN: &str = "schemathesis-token";

/// A fixed seed, so that a failure can be reproduced.
const SEED: &str = "1";

pub(crate) fn run() -> anyhow::Result<()> {
    let schemathesis = install()?;
    let program = sh::build()?;
    let home = sh::target_dir()?.join("schemathesis");
    // Files of an earlier run would change the responses of this one.
    let _ = std::fs::remove_dir_all(&home);
    let root = home.join("root");
    std::fs::create_dir_all(root.join("directory"))?;
    std::fs::write(root.join("file"), "content")?;
    let mut command = sh::command(program);
    // Generated agent names must not cause downloads: with --no-install the daemon refuses agents that are not installed.
    command.args(["daemon", "--port", "0", "--log", "error", "--no-install"]);
    command.args(["--timeout-max", "2s", "--fs-root"]);
    command.arg(&root).arg("--data-dir").arg(home.join("data")).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut daemon = DaemonProcess(command.env("TOMBOLO_TOKEN", TOKEN).spawn()?);
    let base = daemon.wait_for_address()?;
    let mut drive = sh::command(schemathesis);
    drive.arg("--config-file").arg(sh::root().join(".ci/schemathesis.toml"));
    drive.args(["run", "--workers", "1", "--seed", SEED, "--max-examples", EXAMPLES, "--checks", "all"]);
    // A schema cannot express what makes an agent name, a path or an archive valid, so valid-looking input may be refused.
    drive.args(["--exclude-checks", "positive_data_acceptance"]);
    drive
        .args(["--header", &format!("Authorization: Bearer {TOKEN}"), "--request-timeout", "15"])
        .arg(format!("{base}/v1/openapi.json"));
    // Schemathesis writes files into its working directory.
    drive.current_dir(&home).env("HYPOTHESIS_STORAGE_DIRECTORY", home.join("hypothesis"));
    let driven = sh::status(&mut drive);
    drop(daemon);
    driven
}

/// Installs schemathesis into a virtual environment outside the checkout, unless it is there.
fn install() -> anyhow::Result<PathBuf> {
    let environment = cache()?.join(format!("schemathesis-{VERSION}"));
    let program = environment.join("bin/schemathesis");
    if program.exists() {
        return Ok(program);
    }
    if !sh::is_there("python3", &["-m", "pip"]) {
        bail!("python3 with pip and venv is needed for schemathesis (Debian: python3-pip python3-venv)");
    }
    let _ = std::fs::remove_dir_all(&environment);
    sh::status(sh::command("python3").args(["-m", "venv"]).arg(&environment))?;
    let mut pip = sh::command(environment.join("bin/python"));
    sh::status(
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .arg(format!("schemathesis=={VERSION}")),
    )?;
    Ok(program)
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

/// A daemon that is killed when this value is dropped.
struct DaemonProcess(Child);

impl DaemonProcess {
    /// Waits until the daemon prints its address.
    fn wait_for_address(&mut self) -> anyhow::Result<String> {
        let stdout = self.0.stdout.take().context("the daemon's output is not piped")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok(line.trim().strip_prefix("listening on ").context("the daemon did not start")?.to_owned())
    }
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
