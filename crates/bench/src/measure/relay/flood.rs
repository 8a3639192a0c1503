//! Two commands with large output, one of which no client reads, and the latency of other requests to the same device
//! while they run.

use std::{
    io,
    time::{Duration, Instant},
};

use protocol::relay::RawJson;
use relay::Ask;
use serde_json::{Value, json};

use super::percentile;
use crate::{
    Lab, Report,
    lent::{Device, End, Lender, failed},
    measure::millis,
    proc,
};

/// The output of each command.
const OUTPUT_BYTES: u64 = 1_000_000_000;

/// The least number of other requests. The 99th percentile needs enough samples above it.
const OTHERS: usize = 5_000;

/// The number of requests between two checks whether the background command still runs.
const LOOK_EVERY: usize = 50;

/// The longest time for the background command.
const OUTPUT_MAX: Duration = Duration::from_secs(120);

pub(super) async fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let lender = Lender::start(lab).await;
    let device = Device::connect(lab, &lender).await?;
    let runtime = lender.runtime(&lender.door("laptop").await?).await?;
    // The first command and the first requests load code and start threads, which must not count as growth.
    runtime.ask("shell.start", &RawJson::from_value(&json!({ "command": "true" }))).await.map_err(failed)?;
    others(&runtime, LOOK_EVERY).await?;
    let pids = [("hub", lender.pid()), ("device", device.pid())];
    pids.into_iter().for_each(|(_, pid)| proc::forget_peak(pid));
    let line = format!("yes what nobody reads | head -c {}", lab.size(OUTPUT_BYTES, OUTPUT_BYTES / 10));
    // No client reads the output of this command, so backpressure must stop it.
    let unread =
        runtime.peer.request(Ask::new("shell.start", RawJson::from_value(&json!({ "command": line })))).await;
    // This command runs in the background: the device keeps a bounded part of its output and lets it run to its end.
    let kept = RawJson::from_value(&json!({ "command": line, "background": true }));
    let kept: Value =
        runtime.ask("shell.start", &kept).await.map_err(failed)?.read().map_err(io::Error::other)?;
    let mut times = Vec::new();
    let (since, mut over) = (Instant::now(), false);
    while !over || times.len() < lab.size(OTHERS, OTHERS / 10) {
        times.extend(others(&runtime, LOOK_EVERY).await?);
        over = over || !is_running(&runtime, &kept["command_id"]).await?;
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

/// Sends small requests one after the other and returns the latency of each.
async fn others(runtime: &End, count: usize) -> io::Result<Vec<Duration>> {
    let params = RawJson::from_value(&json!({ "root_id": "main", "path": "." }));
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        runtime.ask("file.stat", &params).await.map_err(failed)?;
        times.push(started.elapsed());
    }
    Ok(times)
}

async fn is_running(runtime: &End, command: &Value) -> io::Result<bool> {
    let status = runtime.ask("shell.status", &RawJson::from_value(&json!({ "command_id": command }))).await;
    let status: Value = status.map_err(failed)?.read().map_err(io::Error::other)?;
    Ok(status["state"] == "running")
}
