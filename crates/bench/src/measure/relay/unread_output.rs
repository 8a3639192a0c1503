//! Two commands with large output, one of which no client reads, and the latency of other requests to the same device
//! while they run.

use std::{
    io,
    time::{Duration, Instant},
};

use protocol::relay::RawJson;
use relay::Ask;
use serde_json::{Value, json};

use super::{percentile, stat_latencies};
use crate::{
    BenchSetup, RunReport,
    device_process::DeviceProcess,
    measure::millis,
    proc,
    relay_connection::{RelayConnection, relay_failure},
    relay_hub::RelayHub,
};

/// The output of each command.
const OUTPUT_BYTES: u64 = 1_000_000_000;

/// The least number of other requests. The 99th percentile needs enough samples above it.
const OTHERS: usize = 5_000;

/// The number of requests between two checks whether the background command still runs.
const CHECK_EVERY: usize = 50;

/// The longest time for the background command.
const OUTPUT_MAX: Duration = Duration::from_secs(120);

pub(super) async fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let hub = RelayHub::start(setup).await;
    let device = DeviceProcess::connect(setup, &hub).await?;
    let runtime = hub.connect_runtime(&hub.create_environment("laptop").await?).await?;
    // The first command and the first requests load code and start threads, which must not count as growth.
    runtime
        .request("shell.start", &RawJson::from_value(&json!({ "command": "true" })))
        .await
        .map_err(relay_failure)?;
    stat_latencies(&runtime, ".", CHECK_EVERY).await?;
    let pids = [("hub", hub.pid()), ("device", device.pid())];
    pids.into_iter().for_each(|(_, pid)| proc::forget_peak(pid));
    let line =
        format!("yes unread output | head -c {}", setup.full_or_quick(OUTPUT_BYTES, OUTPUT_BYTES / 10));
    // No client reads the output of this command, so backpressure must stop it.
    let unread =
        runtime.peer.request(Ask::new("shell.start", RawJson::from_value(&json!({ "command": line })))).await;
    // This command runs in the background: the device keeps a bounded part of its output and lets it run to its end.
    let background = RawJson::from_value(&json!({ "command": line, "background": true }));
    let background: Value = runtime
        .request("shell.start", &background)
        .await
        .map_err(relay_failure)?
        .read()
        .map_err(io::Error::other)?;
    let mut times = Vec::new();
    let (since, mut has_ended) = (Instant::now(), false);
    while !has_ended || times.len() < setup.full_or_quick(OTHERS, OTHERS / 10) {
        times.extend(stat_latencies(&runtime, ".", CHECK_EVERY).await?);
        has_ended = has_ended || !is_running(&runtime, &background["command_id"]).await?;
        if since.elapsed() > OUTPUT_MAX {
            return Err(io::Error::other("the command did not end"));
        }
    }
    for (name, pid) in pids {
        report.add(format!("relay.flood.{name}"), "ours", proc::peak_kib(pid) as f64 / 1024.0);
    }
    report.add("relay.flood.p50", "ours", millis(percentile(&mut times, 50)));
    report.add("relay.flood.p99", "ours", millis(percentile(&mut times, 99)));
    drop(unread);
    Ok(())
}

async fn is_running(runtime: &RelayConnection, command: &Value) -> io::Result<bool> {
    let status =
        runtime.request("shell.status", &RawJson::from_value(&json!({ "command_id": command }))).await;
    let status: Value = status.map_err(relay_failure)?.read().map_err(io::Error::other)?;
    Ok(status["state"] == "running")
}
