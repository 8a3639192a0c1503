//! Commands in the background: their output is kept, within limits, and they are remembered for a while.

use std::time::Duration;

use device::shell::Limits;
use protocol::relay::{
    RelayErrorCode,
    method::ShellStatus,
    shell::{CommandState, InspectCommand},
};
use serde_json::json;
use testkit::within;

use super::support::{BOTH, Kind, Laptop, config};
use crate::support::SOON;

/// relay-83
#[tokio::test]
async fn a_command_in_the_background_is_asked_about() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let id = laptop.background("echo one; read line; echo $line; echo two >&2; exit 4").await;
        let inspect = InspectCommand { command_id: id.clone(), drain: false };
        let status = laptop.lent.ask::<ShellStatus>(&inspect).await.unwrap();
        assert_eq!((status.state, status.output_truncated), (CommandState::Running, false), "{kind:?}");
        assert!(status.output.is_empty() && status.exit_code.is_none());
        assert!(jiff::Timestamp::now().duration_since(status.started_at).as_secs() < 30);
        laptop.input(&id, "hello\n", false).await.unwrap();
        let (status, written) = laptop.ends(&id).await;
        assert_eq!((&status["state"], &status["exit_code"]), (&json!("exited"), &json!(4)), "{kind:?}");
        assert_eq!(written.replace("two\n", ""), "one\nhello\n");
        assert!(written.contains("two\n"));
    }
}

/// relay-83
#[tokio::test]
async fn a_command_in_the_background_that_is_killed_says_so() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let id = laptop.background("sleep 60").await;
        laptop.ask("shell.signal", json!({ "command_id": id, "signal": "KILL" })).await.unwrap();
        let (status, _) = laptop.ends(&id).await;
        assert_eq!((&status["state"], &status["exit_code"]), (&json!("killed"), &json!(137)), "{kind:?}");
    }
}

/// relay-83, relay-49: a flood is kept within a limit, and that is told.
#[tokio::test]
async fn a_flood_in_the_background_is_cut() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let id = laptop.background("seq 1 1000000").await;
    within(SOON, async {
        while laptop.ask("shell.status", json!({ "command_id": id })).await.unwrap()["state"] == "running" {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    let (status, written) = laptop.ends(&id).await;
    assert_eq!((&status["state"], &status["output_truncated"]), (&json!("exited"), &json!(true)));
    let kept = 900_000..=device::shell::RING_BYTES_MAX;
    assert!(kept.contains(&written.len()) && written.ends_with("999999\n1000000\n"), "{}", written.len());
}

/// relay-78: a command that has ended is forgotten after a while, …
#[tokio::test]
async fn a_command_is_forgotten_after_a_while() {
    let limits = Limits { retention: Duration::from_millis(300), ..config(Kind::Local).limits };
    let laptop = Laptop::with(device::shell::Config { limits, ..config(Kind::Local) }).await;
    let id = laptop.line("true").await.id.unwrap();
    assert_eq!(laptop.status(&id).await.unwrap()["state"], "exited");
    let error = within(SOON, async {
        loop {
            match laptop.status(&id).await {
                Ok(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => return error,
            }
        }
    })
    .await;
    assert_eq!((error.code, error.details["reason"].as_str()), (RelayErrorCode::NotFound, Some("unknown")));
}

/// relay-78, relay-83: … and when too many others have ended.
#[tokio::test]
async fn only_some_are_remembered() {
    let limits = Limits { ended_max: 2, ..config(Kind::Local).limits };
    let laptop = Laptop::with(device::shell::Config { limits, ..config(Kind::Local) }).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(laptop.line("true").await.id.unwrap());
    }
    within(SOON, async {
        while laptop.status(&ids[0]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(laptop.status(&ids[1]).await.is_ok() && laptop.status(&ids[2]).await.is_ok());
}

/// relay-34: there is an end to how many run.
#[tokio::test]
async fn only_some_run_at_a_time() {
    let limits = Limits { running_max: 2, ..config(Kind::Local).limits };
    let laptop = Laptop::with(device::shell::Config { limits, ..config(Kind::Local) }).await;
    let first = laptop.background("sleep 60").await;
    laptop.background("sleep 60").await;
    let error = laptop.line("true").await.error();
    assert_eq!((error.code, error.details["reason"].as_str()), (RelayErrorCode::ProviderError, Some("busy")));
    laptop.ask("shell.cancel", json!({ "command_id": first })).await.unwrap();
    within(SOON, async {
        while laptop.line("true").await.outcome.is_err() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}
