//! Tests a running daemon against its own OpenAPI document with schemathesis: no 5xx, and no response that the document does
//! not describe.

use crate::{checked_daemon::CheckedDaemon, python::PythonEnvironment, sh};

const PACKAGE: &str = "schemathesis==4.32.5";

/// Enough examples to give every parameter every kind of wrong value, in about two minutes.
const EXAMPLES: &str = "40";

/// A fixed seed, so that a failure can be reproduced.
const SEED: &str = "1";

pub(crate) fn run() -> anyhow::Result<()> {
    let environment = PythonEnvironment::install(&PACKAGE.replace("==", "-"), &[PACKAGE])?;
    let home = sh::target_dir()?.join("schemathesis");
    let daemon = CheckedDaemon::start(&sh::build()?, &home, &["--timeout-max", "2s"])?;
    let mut drive = sh::command(environment.program("schemathesis"));
    drive.arg("--config-file").arg(sh::root().join(".ci/schemathesis.toml"));
    drive.args(["run", "--workers", "1", "--seed", SEED, "--max-examples", EXAMPLES, "--checks", "all"]);
    // A schema cannot express what makes an agent name, a path or an archive valid, so valid-looking input may be refused.
    drive.args(["--exclude-checks", "positive_data_acceptance"]);
    drive.args(["--header", &format!("Authorization: Bearer {}", daemon.token()), "--request-timeout", "15"]);
    // The document names the default port, and this daemon has another.
    drive.args(["--url", daemon.base()]).arg(format!("{}/v1/openapi.json", daemon.base()));
    // Schemathesis writes files into its working directory.
    drive.current_dir(&home).env("HYPOTHESIS_STORAGE_DIRECTORY", home.join("hypothesis"));
    sh::status(&mut drive)
}
