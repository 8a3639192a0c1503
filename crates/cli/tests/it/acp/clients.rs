//! acp-25: standard clients work as they come from their registry.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use testkit::TestDaemon;

use crate::TOMBOLO;

/// Where the clients are kept.
pub(crate) fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// The clients, installed as the lock file says.
pub(crate) fn installed() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    std::fs::create_dir_all(&directory).unwrap();
    let lock = std::fs::File::create(directory.join("lock")).unwrap();
    lock.lock().unwrap();
    let locked = std::fs::read(here().join("package-lock.json")).unwrap();
    // Written last: it is there when everything is.
    let done = directory.join("installed");
    if std::fs::read(&done).is_ok_and(|installed| installed == locked) {
        return directory;
    }
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(here().join(file), directory.join(file)).unwrap();
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&directory);
    let output = npm.output().expect("npm is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(done, locked).unwrap();
    directory
}

/// A script, beside the clients that it imports.
pub(crate) fn script(name: &str) -> PathBuf {
    let script = installed().join(name);
    // Imports are looked up from where the script lies.
    std::fs::copy(here().join(name), &script).unwrap();
    script
}

fn converse(name: &str) {
    let daemon = TestDaemon::start(TOMBOLO);
    let output =
        Command::new("node").arg(script(name)).arg(daemon.base()).output().expect("node is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_official_sdk_holds_a_conversation() {
    converse("sdk.mjs");
}

#[test]
fn the_published_http_client_holds_a_conversation() {
    converse("acp-http-client.mjs");
}
