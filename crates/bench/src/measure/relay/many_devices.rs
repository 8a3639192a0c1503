//! Requests to many devices at once. The devices run inside the load generator, but each has its own token, WebSocket
//! and environment, and the environment has a WebSocket of its own.

use std::{
    io,
    time::{Duration, Instant},
};

use protocol::relay::RawJson;
use serde_json::json;
use tokio::task::JoinSet;

use super::percentile;
use crate::{
    BenchSetup, RunReport, measure::millis, proc, relay_connection::RelayConnection, relay_hub::RelayHub,
};

/// The number of devices.
const DEVICES: u32 = 500;
/// Requests per second, over all devices.
const PACE: u32 = 5_000;

/// The number of devices in a quick run, because each takes a moment to set up.
const DEVICES_QUICK: u32 = 100;

pub(super) async fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let hub = RelayHub::start(setup).await;
    let (mut devices, mut runtimes) = (Vec::new(), Vec::new());
    let count = setup.full_or_quick(DEVICES, DEVICES_QUICK);
    // The interval between two requests to the same device.
    let every = Duration::from_secs(1) * count / PACE;
    for number in 0..count {
        let client_id = format!("device-{number}");
        let token = hub.register_device(&client_id).await?;
        devices.push(hub.connect_light_device(&client_id, &token).await?);
        hub.wait_until_connected(&client_id).await?;
        runtimes.push(hub.connect_runtime(&hub.create_environment(&client_id).await?).await?);
    }
    let time = Duration::from_secs(setup.full_or_quick(60, 6));
    let (pid, cpu) = (hub.pid(), proc::cpu(hub.pid()));
    let started = Instant::now();
    let mut requests = JoinSet::new();
    for (number, runtime) in runtimes.into_iter().enumerate() {
        // The first requests are spread over one interval, so that the devices do not receive theirs at the same
        // moment.
        let first = started + every * number as u32 / count;
        requests.spawn(send_requests(runtime, RequestTimes { first, end: started + time, every }));
    }
    let rss_at = async |at: Duration| {
        tokio::time::sleep_until((started + at).into()).await;
        proc::rss_kib(pid) as f64 / 1024.0
    };
    let (half, whole) = (rss_at(time / 2).await, rss_at(time).await);
    let (mut times, mut errors) = (Vec::new(), 0);
    while let Some(latencies) = requests.join_next().await {
        let latencies = latencies.map_err(io::Error::other)?;
        times.extend(latencies.times);
        errors += latencies.errors;
    }
    let (took, count) = (started.elapsed(), times.len().max(1) as f64);
    report.add("relay.many.errors", "ours", f64::from(errors));
    report.add("relay.many.rate", "ours", count / took.as_secs_f64());
    report.add("relay.many.p50", "ours", millis(percentile(&mut times, 50)));
    report.add("relay.many.p99", "ours", millis(percentile(&mut times, 99)));
    report.add("relay.many.cpu", "ours", (proc::cpu(pid) - cpu).as_secs_f64() * 1e6 / count);
    report.add("relay.many.rss", "ours", whole);
    report.add("relay.many.grown", "ours", whole - half);
    drop(devices);
    Ok(())
}

/// The result of the requests to one device.
struct DeviceLatencies {
    /// The time from the moment at which each request was due to its response. Counting from the send instead would
    /// hide the delay of requests that had to wait for a slow one.
    times: Vec<Duration>,
    errors: u32,
}

/// The times at which the requests to one device are due: at each interval `every`, from `first` until `end`.
struct RequestTimes {
    first: Instant,
    end: Instant,
    every: Duration,
}

async fn send_requests(runtime: RelayConnection, at: RequestTimes) -> DeviceLatencies {
    let params = RawJson::from_value(&json!({ "root_id": "main", "path": "a.txt" }));
    let mut latencies = DeviceLatencies { times: Vec::new(), errors: 0 };
    let mut due = at.first;
    while due < at.end {
        tokio::time::sleep_until(due.into()).await;
        match runtime.request("file.stat", &params).await {
            Ok(_) => latencies.times.push(due.elapsed()),
            Err(_) => latencies.errors += 1,
        }
        due += at.every;
    }
    latencies
}
