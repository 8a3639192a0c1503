//! The program as its users meet it: real processes, real sockets, one home per test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod acp;
mod agent_stage;
mod agent_table;
mod asker;
mod cli;
mod daemon;
mod described;
mod device;
mod device_tools;
mod editor;
mod hub;
mod malformed_ids;
mod processes;
mod readme;
mod real;
mod relay;
mod sessions;
mod table;
mod telemetry;
mod terminal_process;
mod universal;
mod upgrade;

use std::time::Duration;

use serde_json::Value;

/// The program under test.
const TOMBOLO: &str = env!("CARGO_BIN_EXE_tombolo");

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The problem that a response carries.
async fn problem(response: reqwest::Response) -> Value {
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let status = response.status().as_u16();
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["status"], status, "{problem}");
    problem
}

#[track_caller]
fn check_problem(problem: &Value, status: u16, kind: &str) {
    assert_eq!(
        (problem["status"].as_u64(), problem["type"].as_str()),
        (Some(status.into()), Some(kind)),
        "{problem}"
    );
}
