//! Many devices that are all asked at once. They are no processes of their own, but each has its own token and WebSocket, and
//! an environment with another.

use std::{
    io,
    time::{Duration, Instant},
};

use protocol::relay::Json;
use serde_json::json;
use tokio::task::JoinSet;

use super::percentile;
use crate::{
    Lab, Report,
    lent::{End, Lender},
    measure::millis,
    proc,
};

/// How many devices there are, …
const DEVICES: u32 = 500;
/// … and how many requests are made each second, of all of them together.
const PACE: u32 = 5_000;

/// How many devices there are when less is measured: each takes a moment to set up.
const DEVICES_QUICK: u32 = 100;

pub(super) async fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let lender = Lender::start(lab).await;
    let (mut devices, mut runtimes) = (Vec::new(), Vec::new());
    let count = lab.size(DEVICES, DEVICES_QUICK);
    // How often each of them is asked.
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

/// What came of asking one device.
struct Asked {
    /// How long each answer took, from when the request was due.
    times: Vec<Duration>,
    errors: u32,
}

/// Asks one device so often, from `first` until `end`.
async fn ask(runtime: End, (first, end): (Instant, Instant), every: Duration) -> Asked {
    let params = Json::from_value(&json!({ "root_id": "main", "path": "a.txt" }));
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
