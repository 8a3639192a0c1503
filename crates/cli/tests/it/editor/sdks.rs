//! acp-25: the official SDKs start `tombolo acp` as they start any agent.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use testkit::TestDaemon;

use super::*;
use crate::acp::clients;

/// The editor that is made of the official Rust SDK.
fn rust_editor() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-sdk");
    let manifest = clients::here().join("rust-sdk/Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(manifest);
    let built = cargo.arg("--target-dir").arg(&target).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("debug/rust-sdk-editor")
}

async fn check(daemon: &TestDaemon, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    // The SDK has closed the pipes; what it started has a moment to tidy up.
    let gone = async {
        while !instances(daemon).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    within(secs(20), gone).await;
}

#[tokio::test]
async fn the_rust_sdk_holds_a_conversation() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut editor = Command::new(rust_editor());
    editor.args([TOMBOLO, "acp", "--endpoint", daemon.base(), "--agent", "mock"]);
    check(&daemon, &editor.output().unwrap()).await;
}

#[tokio::test]
async fn the_typescript_sdk_holds_a_conversation() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut editor = Command::new("node");
    editor.arg(clients::script("editor.mjs"));
    editor.args([TOMBOLO, "acp", "--endpoint", daemon.base(), "--agent", "mock"]);
    check(&daemon, &editor.output().expect("node is installed")).await;
}
