use std::time::Duration;

use process::ProcessSpec;

use super::*;

fn sh(script: &str) -> ProcessSpec {
    ProcessSpec::new("sh").args(["-c", script])
}

/// sessions-7: process exited, with its code and the end of its stderr.
#[tokio::test]
async fn a_server_that_exits_during_startup_is_reported_with_its_stderr() {
    let servers = AgentServers::new(Duration::from_secs(1));
    let error = servers.attach(sh("echo no port >&2; exit 3")).await.unwrap_err();
    let Error::Exited { exit, stderr } = error else { panic!("{error}") };
    assert_eq!((exit.code, stderr.trim()), (Some(3), "no port"));
}

/// sessions-7: a missing binary.
#[tokio::test]
async fn a_missing_program_is_reported() {
    let servers = AgentServers::new(Duration::from_secs(1));
    let error = servers.attach(ProcessSpec::new("/nonexistent/server")).await.unwrap_err();
    assert!(matches!(error, Error::Spawn(_)), "{error}");
}

#[tokio::test]
async fn an_address_without_a_server_is_reported() {
    let servers = AgentServers::new(Duration::from_secs(1));
    let error = servers.attach(sh("echo listening on http://127.0.0.1:1; sleep 60")).await.unwrap_err();
    assert!(matches!(error, Error::Stream(_)), "{error}");
}

#[tokio::test]
async fn no_server_starts_after_stop() {
    let servers = AgentServers::new(Duration::from_secs(1));
    servers.stop().await;
    let error = servers.attach(sh("exit 0")).await.unwrap_err();
    assert!(matches!(error, Error::Stopped), "{error}");
}
