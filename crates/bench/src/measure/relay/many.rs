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
    Lab, Report,
    lent::{End, Lender},
    measure::millis,
    proc,
};

/// The number of devices.
const DEVICES: u32 = 500;
/// Requests per second, over all devices.
const PACE: u32 = 5_000;

/// The number of devices in a quick run, because each takes a moment to set up.
const DEVICES_QUICK: u32 = 100;

pub(super) async fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let lender = Lender::start(lab).await;
    let (mut devices, mut runtimes) = (Vec::new(), Vec::new());
    let count = lab.size(DEVICES, DEVICES_QUICK);
    // The interval between two requests to the same device.
    let every = Duration::from_secs(1) * count / PACE;
    for number in 0..count {
        let client_id = format!("device-{number}");
        let token = lender.let_in(&client_id).await?;
        devices.push(lender.light_device(&client_id, &token).await?);
        lender.knows(&client_id).await?;
        runtimes.push(lender.runtime(&lender.door(&client_id).await?).await?);
    }
    let time = Duration::from_secs(lab.size(60, 6));
    let (pid, cpu) = (lender.pid(), proc::cpu(lender.pid()));
    let started = Instant::now();
    let mut asking = JoinSet::new();
    for (number, runtime) in runtimes.into_iter().enumerate() {
        // The first requests are spread over one interval, so that the devices do not receive theirs at the same
        // moment.
        asking.spawn(ask(runtime, (started + every * number as u32 / count, started + time), every));
    }
    let look = async |at: Duration| {
        tokio::time::sleep_until((started + at).into()).await;
        proc::rss_kib(pid) as f64 / 1024.0
    };
    let (half, whole) = (look(time / 2).await, look(time).await);
    let (mut times, mut errors) = (Vec::new(), 0);
    while let Some(asked) = asking.join_next().await {
        let asked = asked.map_err(io::Error::other)?;
        times.extend(asked.times);
        errors += asked.errors;
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
struct Asked {
    /// The time from the moment at which each request was due to its response. Counting from the send instead would
    /// hide the delay of requests that had to wait for a slow one.
    times: Vec<Duration>,
    errors: u32,
}

/// Sends a request to one device at each interval `every`, from `first` until `end`.
async fn ask(runtime: End, (first, end): (Instant, Instant), every: Duration) -> Asked {
    let params = RawJson::from_value(&json!({ "root_id": "main", "path": "a.txt" }));
    let mut asked = Asked { times: Vec::new(), errors: 0 };
    let mut due = first;
    while due < end {
        tokio::time::sleep_until(due.into()).await;
        match runtime.ask("file.stat", &params).await {
            Ok(_) => asked.times.push(due.elapsed()),
            Err(_) => asked.errors += 1,
        }
        due += every;
    }
    asked
}
