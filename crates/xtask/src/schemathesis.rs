//! Drives a running daemon by its own OpenAPI document: no 5xx, no answer that the document does not allow.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
};

use anyhow::{Context, bail};

use crate::sh;

const VERSION: &str = "4.32.5";

/// Enough to meet every parameter with every kind of wrong value, in about two minutes.
const EXAMPLES: &str = "40";

/// With a token, so that what happens without it is met too.
const TOKEN: &str = "schemathesis-token";

/// Fixed, so that what fails once fails again.
const SEED: &str = "1";

pub(crate) fn run() -> anyhow::Result<()> {
    let schemathesis = install()?;
    let program = sh::build()?;
    let home = sh::target_dir()?.join("schemathesis");
    // What an earlier run left would change what this one meets.
    let _ = std::fs::remove_dir_all(&home);
    let root = home.join("root");
    std::fs::create_dir_all(root.join("directory"))?;
    std::fs::write(root.join("file"), "content")?;
    let mut command = sh::command(program);
    // What is made up must not be fetched from the vendors: an agent that is not there is refused.
    command.args(["daemon", "--port", "0", "--log", "error", "--no-install"]);
    command.args(["--timeout-max-ms", "2000", "--fs-root"]);
    command.arg(&root).arg("--data-dir").arg(home.join("data")).stdin(Stdio::null()).stdout(Stdio::piped());
    let daemon = Running(command.env("TOMBOLO_TOKEN", TOKEN).spawn()?);
    let (daemon, base) = daemon.address()?;
    let mut drive = sh::command(schemathesis);
    drive.arg("--config-file").arg(sh::root().join(".ci/schemathesis.toml"));
    drive.args(["run", "--workers", "1", "--seed", SEED, "--max-examples", EXAMPLES, "--checks", "all"]);
    // What an agent, a path or an archive must be is more than a schema can say.
    drive.args(["--exclude-checks", "positive_data_acceptance"]);
    drive
        .args(["--header", &format!("Authorization: Bearer {TOKEN}"), "--request-timeout", "15"])
        .arg(format!("{base}/v1/openapi.json"));
    // It leaves its own files where it is run.
    drive.current_dir(&home).env("HYPOTHESIS_STORAGE_DIRECTORY", home.join("hypothesis"));
    let driven = sh::status(&mut drive);
    drop(daemon);
    driven
}

/// A private environment outside of the checkout, made once.
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

/// Where caches live; they are only an optimisation.
#[expect(
    clippy::disallowed_methods,
    reason = "this is a program of its own, and here it reads its configuration"
)]
fn cache() -> anyhow::Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Ok(base.or_else(home).context("neither HOME nor XDG_CACHE_HOME is set")?.join("tombolo"))
}

/// A daemon that is ended when nobody needs it.
struct Running(Child);

impl Running {
    fn address(mut self) -> anyhow::Result<(Self, String)> {
        let stdout = self.0.stdout.take().context("its output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let base = line.trim().strip_prefix("listening on ").context("the daemon did not start")?.to_owned();
        Ok((self, base))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
