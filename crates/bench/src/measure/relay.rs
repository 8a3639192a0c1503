//! Devices that a runtime uses through the hub: file reads and small requests compared with bare WebSockets, command
//! output that no client reads, and many devices at once.

mod many_devices;
mod sequential;
mod unread_output;

use std::{
    io,
    time::{Duration, Instant},
};

use protocol::relay::RawJson;
use serde_json::json;

use crate::{
    BenchSetup, RunReport, Spinners,
    relay_connection::{RelayConnection, relay_failure},
};

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // Only the first part is sequential and gains from spinners; see `Measurement::keeps_cores_awake`.
        let spinners = Spinners::start(&setup.stub)?;
        sequential::run(setup, report).await?;
        drop(spinners);
        unread_output::run(setup, report).await?;
        many_devices::run(setup, report).await
    })
}

/// Sorts the times and returns a percentile of them.
fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// Sends `file.stat` requests for `path` one after the other and returns the latency of each.
async fn stat_latencies(runtime: &RelayConnection, path: &str, count: usize) -> io::Result<Vec<Duration>> {
    let params = RawJson::from_value(&json!({ "root_id": "main", "path": path }));
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        runtime.request("file.stat", &params).await.map_err(relay_failure)?;
        times.push(started.elapsed());
    }
    Ok(times)
}
