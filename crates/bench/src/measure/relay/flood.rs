//! More output of commands than anybody reads, and what others notice of it.

use std::{
    io,
    time::{Duration, Instant},
};

use protocol::relay::Json;
use relay::Ask;
use serde_json::{Value, json};

use super::percentile;
use crate::{
    Lab, Report,
    lent::{Device, End, Lender, failed},
    measure::millis,
    proc,
};

/// How much a command says.
const OUTPUT_BYTES: u64 = 1_000_000_000;

/// How many requests are made meanwhile at least: the slowest hundredth is some of them.
const OTHERS: usize = 5_000;

/// After how many of them it is asked whether the command goes on.
const LOOK_EVERY: usize = 50;

/// How long the command in the background may take.
const OUTPUT_MAX: Duration = Duration::from_secs(120);

pub(super) async fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let lender = Lender::start(lab).await;
    let device = Device::connect(lab, &lender).await?;
    let runtime = lender.runtime(&lender.door("laptop").await?).await?;
    // What comes to be when it is first used does not count.
    runtime.ask("shell.start", &Json::from_value(&json!({ "command": "true" }))).await.map_err(failed)?;
    others(&runtime, LOOK_EVERY).await?;
    let pids = [("hub", lender.pid()), ("device", device.pid())];
    pids.into_iter().for_each(|(_, pid)| proc::forget_peak(pid));
    let line = format!("yes what nobody reads | head -c {}", lab.size(OUTPUT_BYTES, OUTPUT_BYTES / 10));
    // Nobody ever reads this one, so it waits; …
    let unread =
        runtime.peer.request(Ask::new("shell.start", Json::from_value(&json!({ "command": line })))).await;
    // … this one is kept as far as it is, and says all it has to say.
    let kept = Json::from_value(&json!({ "command": line, "background": true }));
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

/// Other requests; how long each took.
async fn others(runtime: &End, count: usize) -> io::Result<Vec<Duration>> {
    let params = Json::from_value(&json!({ "root_id": "main", "path": "." }));
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        runtime.ask("file.stat", &params).await.map_err(failed)?;
        times.push(started.elapsed());
    }
    Ok(times)
}

async fn is_running(runtime: &End, command: &Value) -> io::Result<bool> {
    let status = runtime.ask("shell.status", &Json::from_value(&json!({ "command_id": command }))).await;
    let status: Value = status.map_err(failed)?.read().map_err(io::Error::other)?;
    Ok(status["state"] == "running")
}
