//! Commands that are ended: by cancelling, by time, by their owner. Nobody is left.

use std::{
    fs,
    process::Stdio,
    time::{Duration, Instant},
};

use device::shell::{Config, Limits};
use protocol::relay::RelayErrorCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::within;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use super::support::{
    BOTH, Kind, LENDER, Laptop, config, hear, nobody_runs, processes, runs, says, somebody_runs, started,
    unique,
};
use crate::support::SOON;

/// A command whose children ignore TERM, sit in sessions of their own and have lost their parents.
fn stubborn(number: &str) -> String {
    format!(
        "trap '' TERM HUP INT; (trap '' TERM; sleep {number} & wait) & setsid sleep {number} & \
         (setsid sh -c \"trap '' TERM; sleep {number}; sleep {number}\" &) ; echo ready; sleep {number}; sleep {number}"
    )
}

/// relay-53: who cancels hears of it when all are gone.
#[tokio::test]
async fn cancelling_leaves_nobody() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let number = unique();
        let mut call = laptop.start(json!({ "command": stubborn(&number) })).await;
        let id = started(&mut call).await;
        says(&mut call, "ready").await;
        assert!(somebody_runs(&number));
        let cancel = laptop.ask("shell.cancel", json!({ "command_id": id, "reason": "enough" })).await;
        assert!(!somebody_runs(&number), "{kind:?}");
        assert_eq!(cancel.unwrap(), json!({}));
        let error = hear(call).await.error();
        assert_eq!((error.code, error.details.get("lost")), (RelayErrorCode::Cancelled, None), "{kind:?}");
        let status = laptop.status(&id).await.unwrap();
        assert_eq!(status["state"], "killed");
    }
}

/// relay-53: a request that is no longer wanted ends its command too, and says so when all are gone.
#[tokio::test]
async fn a_request_that_is_cancelled_leaves_nobody() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let number = unique();
        let mut call = laptop.start(json!({ "command": stubborn(&number) })).await;
        started(&mut call).await;
        says(&mut call, "ready").await;
        drop(call);
        let cancelled = || laptop.lent.said().iter().any(|frame| frame.contains("\"cancelled\""));
        within(SOON, async {
            while !cancelled() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        assert!(!somebody_runs(&number), "{kind:?}");
        assert!(!laptop.lent.said().iter().any(|frame| frame.contains("\"lost\"")));
    }
}

/// relay-53: TERM comes first, and there is time to heed it.
#[tokio::test]
async fn a_command_may_end_by_itself_when_cancelled() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let line = "trap 'echo bye > goodbye; exit 0' TERM; echo ready; while :; do sleep 0.02; done";
        let mut call = laptop.start(json!({ "command": line })).await;
        let id = started(&mut call).await;
        says(&mut call, "ready").await;
        laptop.ask("shell.cancel", json!({ "command_id": id })).await.unwrap();
        assert_eq!(fs::read_to_string(laptop.path("main/goodbye")).unwrap(), "bye\n", "{kind:?}");
    }
}

/// relay-157: with the limits that devices have, a command that ignores TERM is gone within a second, whatever ends it: the hub
/// that revokes a grant or an environment (`shell.cancel`), a request that is dropped, or a connection that is closed.
#[tokio::test]
async fn a_stubborn_command_is_gone_within_a_second() {
    for kind in BOTH {
        for ending in ["shell.cancel", "dropped", "closed"] {
            let laptop = Laptop::with(Config { limits: Limits::default(), ..config(kind) }).await;
            let number = unique();
            let mut call = laptop.start(json!({ "command": stubborn(&number) })).await;
            let id = started(&mut call).await;
            says(&mut call, "ready").await;
            let start = Instant::now();
            match ending {
                "shell.cancel" => {
                    drop(laptop.ask("shell.cancel", json!({ "command_id": id })).await.unwrap())
                }
                "dropped" => drop(call),
                _ => laptop.lent.peer.close("the grant was revoked"),
            }
            nobody_runs(&number).await;
            let took = start.elapsed();
            assert!(took < Duration::from_secs(1), "{kind:?}, {ending}: {took:?}");
        }
    }
}

/// Cancels a command in a device of its own without a sandbox, beside others. What is answered, and the device.
async fn cancelled(line: &str, others: &[&str]) -> (Value, Child, TempDir) {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Not among the arguments of the device, by which those are found who hide.
    fs::write(home.path().join("line"), line).unwrap();
    let mut command = tokio::process::Command::new(LENDER);
    command.arg("cancel").arg(home.path()).arg(". ./line").args(others);
    let mut lender = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(lender.stdout.take().unwrap()).lines();
    let answer = within(SOON, lines.next_line()).await.unwrap().unwrap();
    (serde_json::from_str(&answer).unwrap(), lender, home)
}

/// relay-53: without a sandbox, too, nobody survives, whatever they have left behind.
#[tokio::test]
async fn nobody_hides_without_a_sandbox() {
    let number = unique();
    let line = format!(
        "setsid env -i sleep {number} & (setsid env -i sleep {number} >/dev/null 2>&1 &); echo > ready; wait"
    );
    let (answer, _lender, _home) = cancelled(&line, &[]).await;
    assert!(!somebody_runs(&number));
    assert_eq!(answer, json!({}));
}

/// relay-53: who may be of another command is left alone, which is told; nobody outlives the device.
#[tokio::test]
async fn who_may_have_survived_is_told() {
    let number = unique();
    let line = format!("(setsid env -i sleep {number} >/dev/null 2>&1 &); echo > ready; sleep {number}");
    let (answer, mut lender, _home) = cancelled(&line, &["sleep 600"]).await;
    assert_eq!(answer, json!({ "refused": { "lost": true } }));
    drop(lender.stdin.take());
    assert!(within(SOON, lender.wait()).await.unwrap().success());
    assert!(!somebody_runs(&number));
}

/// A device of its own without a sandbox, which claims its files and runs a command.
async fn claiming(home: &TempDir, line: &str) -> Child {
    let mut command = tokio::process::Command::new(LENDER);
    command.arg("claim").arg(home.path()).arg(line).stdout(Stdio::piped()).kill_on_drop(true);
    let mut lender = command.spawn().unwrap();
    let mut lines = BufReader::new(lender.stdout.take().unwrap()).lines();
    assert_eq!(within(SOON, lines.next_line()).await.unwrap().as_deref(), Some("started"));
    lender
}

/// relay-157: what outlives a device that was killed is ended by its next start.
#[tokio::test]
async fn the_next_start_ends_what_a_killed_device_left_behind() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let number = unique();
    fs::write(home.path().join("line"), format!("setsid sleep {number} & (sleep {number} &); wait")).unwrap();
    let mut lender = claiming(&home, ". ./line").await;
    within(SOON, async {
        while processes(&number).len() < 2 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    lender.kill().await.unwrap();
    assert_eq!(processes(&number).len(), 2, "control: both outlive the device");
    let _next = claiming(&home, "true").await;
    nobody_runs(&number).await;
}

/// relay-157: the same holds for processes that cleared their environment, left their group and lost their parent.
#[tokio::test]
async fn the_next_start_ends_processes_that_cleared_their_environment() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let number = unique();
    let hidden = format!("setsid env -i sleep {number} >/dev/null 2>&1 &");
    fs::write(home.path().join("line"), format!("{hidden} ({hidden}) ; wait")).unwrap();
    let mut lender = claiming(&home, ". ./line").await;
    within(SOON, async {
        while processes(&number).len() < 2 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    let hidden = processes(&number);
    within(SOON, async {
        let is_recorded = || {
            let record = fs::read_to_string(home.path().join("device/lender/lock")).unwrap();
            hidden.iter().all(|pid| record.contains(&format!("\n{pid} ")))
        };
        while !is_recorded() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    lender.kill().await.unwrap();
    assert_eq!(processes(&number).len(), 2, "control: both outlive the device");
    let _next = claiming(&home, "true").await;
    nobody_runs(&number).await;
}

/// relay-81: what takes too long is ended, and nobody is left.
#[tokio::test]
async fn what_takes_too_long_is_ended() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let number = unique();
        let start = Instant::now();
        let error = laptop.run(json!({ "command": stubborn(&number), "timeout_ms": 300 })).await.error();
        assert!(!somebody_runs(&number), "{kind:?}");
        assert_eq!((error.code, &error.details["limit"]), (RelayErrorCode::Timeout, &json!(300)), "{kind:?}");
        assert!(start.elapsed() >= Duration::from_millis(300));
    }
}

/// relay-138: whoever is left by a command that has ended is ended too.
#[tokio::test]
async fn a_command_leaves_nobody_behind() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let number = unique();
        let line = format!("setsid sleep {number} >/dev/null 2>&1 & (sleep {number} &) ; echo done");
        let heard = laptop.line(&line).await;
        assert!(!somebody_runs(&number), "{kind:?}");
        assert_eq!((heard.code(), heard.stdout().as_str()), (0, "done\n"));
    }
}

/// relay-156: when the owner ends what is lent, commands end at once.
#[tokio::test]
async fn commands_end_when_the_owner_says_so() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let number = unique();
    laptop.background(&format!("sleep {number}")).await;
    runs(&number).await;
    laptop.device.control().stop();
    nobody_runs(&number).await;
}

/// relay-83, relay-53: what has ended cannot be cancelled.
#[tokio::test]
async fn what_has_ended_is_not_there_to_be_cancelled() {
    let laptop = Laptop::new(Kind::Local).await;
    let heard = laptop.line("true").await;
    let cancel = laptop.ask("shell.cancel", json!({ "command_id": heard.id })).await.unwrap_err();
    assert_eq!((cancel.code, cancel.details["reason"].as_str()), (RelayErrorCode::NotFound, Some("ended")));
    let cancel = laptop.ask("shell.cancel", json!({ "command_id": "cmd_unknown" })).await.unwrap_err();
    assert_eq!((cancel.code, cancel.details["reason"].as_str()), (RelayErrorCode::NotFound, Some("unknown")));
}
