use std::time::Duration;

use process::ProcessSpec;

use super::*;

fn sh(script: &str) -> ProcessSpec {
    ProcessSpec::new("sh").args(["-c", script])
}

/// sessions-7: process exited, with its code and what it said last.
#[tokio::test]
async fn a_server_that_ends_before_it_listens_is_told_with_its_last_words() {
    let servers = AgentServers::new(Duration::from_secs(1));
    let error = servers.attach(sh("echo no port >&2; exit 3")).await.unwrap_err();
    let Error::Exited { exit, stderr } = error else { panic!("{error}") };
    assert_eq!((exit.code, stderr.trim()), (Some(3), "no port"));
}

/// sessions-7: a missing binary.
#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let servers = AgentServers::new(Duration::from_secs(1));
    let error = servers.attach(ProcessSpec::new("/nonexistent/server")).await.unwrap_err();
    assert!(matches!(error, Error::Spawn(_)), "{error}");
}

#[tokio::test]
async fn a_server_whose_address_answers_nobody_is_told() {
    let servers = AgentServers::new(Duration::from_secs(1));
    let error = servers.attach(sh("echo listening on http://127.0.0.1:1; sleep 60")).await.unwrap_err();
    assert!(matches!(error, Error::Stream(_)), "{error}");
}

#[tokio::test]
async fn no_server_is_started_after_the_end() {
    let servers = AgentServers::new(Duration::from_secs(1));
    servers.stop().await;
    let error = servers.attach(sh("exit 0")).await.unwrap_err();
    assert!(matches!(error, Error::Stopped), "{error}");
}
