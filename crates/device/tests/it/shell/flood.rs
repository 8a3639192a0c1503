//! More output than anybody takes: it waits in the command, not here.

use std::{fs, time::Duration};

use protocol::relay::RelayErrorCode;
use serde_json::json;
use testkit::within;

use super::support::{Kind, Laptop, Next, next, started};
use crate::support::SOON;

/// How much more memory a device may need for a command that nobody listens to.
const GROWTH_BYTES_MAX: u64 = 16 << 20;

fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// relay-47, relay-49: 1 GB of output for somebody who never reads; others are answered meanwhile.
#[tokio::test]
async fn a_flood_that_nobody_reads_waits() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    laptop.line("true").await;
    let before = resident();
    let line = "head -c 1000000000 /dev/zero | tee /dev/stderr; echo over > over";
    let mut call = laptop.start(json!({ "command": line })).await;
    let id = started(&mut call).await;
    let mut slowest = Duration::ZERO;
    for _ in 0..500 {
        let asked = std::time::Instant::now();
        assert_eq!(laptop.status(&id).await.unwrap()["state"], "running");
        slowest = slowest.max(asked.elapsed());
    }
    let grown = resident().saturating_sub(before);
    println!("grown by {} KiB, slowest of 500 others {slowest:?}", grown >> 10);
    assert!(grown < GROWTH_BYTES_MAX, "{grown}");
    assert!(!laptop.path("main/over").exists(), "it waits");
    // Although nobody reads, it can be ended, and whoever started it is told.
    laptop.ask("shell.cancel", json!({ "command_id": id })).await.unwrap();
    within(SOON, async {
        while !laptop.lent.said().iter().any(|frame| frame.contains("\"code\":\"cancelled\"")) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    loop {
        if let Next::Outcome(outcome) = next(&mut call).await {
            break assert_eq!(outcome.unwrap_err().code, RelayErrorCode::Cancelled);
        }
    }
}

/// relay-81: the time of a command runs while nobody reads, too.
#[tokio::test]
async fn a_flood_that_nobody_reads_is_ended_in_time() {
    let laptop = Laptop::new(Kind::Local).await;
    let mut call = laptop.start(json!({ "command": "cat /dev/zero", "timeout_ms": 300 })).await;
    let id = started(&mut call).await;
    within(SOON, async {
        while laptop.status(&id).await.unwrap()["state"] == "running" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    loop {
        if let Next::Outcome(outcome) = next(&mut call).await {
            break assert_eq!(outcome.unwrap_err().code, RelayErrorCode::Timeout);
        }
    }
}
