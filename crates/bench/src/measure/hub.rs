//! Many clients that watch many workers through the hub, compared with a bare server that sends the same amount of
//! data; and the effect of one client that never reads.

use std::{io, net::SocketAddr, time::Duration};

use serde_json::json;

use testkit::TestHub;

use crate::{
    Lab, Report, Subject, clock,
    floor::FloorServer,
    http::{self, Connection},
    proc,
    server::Server,
    session::{Session, body},
    stub::Speech,
    watchers::{Watched, Watcher, watch},
};

/// The number of workers.
const WORKERS: usize = 100;
/// The number of clients that watch each worker.
const CLIENTS: usize = 20;
/// The number of events per second of each worker.
const PACE: u64 = 20;

/// The length of the text of an event: a few words, as models stream them.
const TEXT_BYTES: usize = 60;

/// The number of workers that are also watched at the daemon itself. The difference is the latency that the hub adds.
const DIRECT: usize = 10;

/// The number of clients that watch the same worker as the client that never reads.
const OTHERS: usize = 99;
/// The output of that worker. It is far more than the hub and the sockets buffer for one client.
const LONG: Speech = Speech { count: 8_000, bytes: TEXT_BYTES, per_second: 400 };

/// The read timeout of an ordinary request.
const PATIENCE: Duration = Duration::from_secs(30);

/// The id of the daemon at the hub.
const RUNTIME: &str = "box";

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let seconds = lab.size(120, 5);
    for _ in 0..lab.size(2, 1) {
        fan_out(lab, report, seconds)?;
    }
    for _ in 0..lab.size(3, 1) {
        never_reads(lab, report)?;
    }
    Ok(())
}

/// A daemon and a hub with which the daemon is registered as a runtime.
struct Pair {
    daemon: Server,
    hub: TestHub,
    address: SocketAddr,
}

impl Pair {
    fn start(lab: &Lab) -> io::Result<Self> {
        let (daemon, hub) = (lab.start(Subject::Ours)?, TestHub::start(&lab.ours));
        let address = hub.base().trim_start_matches("http://").parse().map_err(io::Error::other)?;
        let add = json!({ "id": RUNTIME, "endpoint": format!("http://{}", daemon.address()) }).to_string();
        let header = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}",
            hub.token(),
            add.len()
        );
        let mut request = http::request("POST", "/api/runtimes", &header);
        request.extend_from_slice(add.as_bytes());
        body(&http::once(address, &request, PATIENCE)?, 201)?;
        Ok(Self { daemon, hub, address })
    }

    /// Opens the sessions `w0`, `w1` and so on, each with an agent process.
    fn sessions(&self, count: usize) -> io::Result<Vec<Session<'_>>> {
        (0..count).map(|number| Session::open(&self.daemon, format!("w{number}"))).collect()
    }

    /// Watches a worker through the hub.
    fn watcher(&self, worker: usize, query: &str) -> io::Result<Watcher> {
        let path = format!("/api/runtimes/{RUNTIME}/workers/w{worker}/events/ws{query}");
        Watcher::open(self.address, &path, Some(self.hub.token()))
    }

    /// Watches a worker at the daemon itself.
    fn direct(&self, worker: usize) -> io::Result<Watcher> {
        Watcher::open(self.daemon.address(), &format!("/v1/workers/w{worker}/events/ws"), None)
    }
}

/// Measures latency, loss, CPU time and memory of the hub while all workers stream text to all clients.
fn fan_out(lab: &Lab, report: &mut Report, seconds: u64) -> io::Result<()> {
    let speech = Speech { count: PACE * seconds, bytes: TEXT_BYTES, per_second: PACE };
    let pair = Pair::start(lab)?;
    let sessions = pair.sessions(WORKERS)?;
    let speak = |speech: &Speech| {
        let mut connection = pair.daemon.connect()?;
        sessions.iter().try_for_each(|session| session.say(&mut connection, &speech.prompt()))
    };
    let mut watchers = (0..WORKERS * CLIENTS)
        .map(|number| pair.watcher(number % WORKERS, ""))
        .collect::<io::Result<Vec<_>>>()?;
    let mut direct = (0..DIRECT).map(|worker| pair.direct(worker)).collect::<io::Result<Vec<_>>>()?;
    let (pid, before) = (pair.hub.pid(), proc::cpu(pair.hub.pid()));
    let (watched, direct, grown) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| speak(&speech));
        let direct = scope.spawn(|| watch(&mut direct, speech.count));
        // Memory must not grow once the hub's history of each worker is full, which it is after half of the run. The
        // second reading is at 23/24 of the run: at the end each worker sends its whole message once more, which is
        // another load.
        let grown = scope.spawn(|| {
            let look = |pause: Duration| {
                clock::pause(pause);
                proc::rss_kib(pid) as f64 / 1024.0
            };
            let half = Duration::from_secs(seconds) / 2;
            let early = look(half);
            look(half * 11 / 12) - early
        });
        let watched = watch(&mut watchers, speech.count);
        asking.join().map_err(|_| panicked())??;
        let direct = direct.join().map_err(|_| panicked())??;
        io::Result::Ok((watched?, direct, grown.join().map_err(|_| panicked())?))
    })?;
    let cpu = proc::cpu(pid) - before;
    let mut add = |what: &str, subject: &str, value: f64| report.add(format!("hub.{what}"), subject, value);
    let expected = speech.count * (WORKERS * CLIENTS) as u64;
    add("lost", "ours", expected.saturating_sub(watched.received) as f64);
    add("disorder", "ours", watched.disordered as f64);
    add("cpu", "ours", per_piece(cpu, &watched));
    add("rss", "ours", proc::rss_kib(pid) as f64 / 1024.0);
    add("grown", "ours", grown);
    for percent in [50, 99] {
        add(&format!("p{percent}"), "ours", watched.percentile(percent));
        add(&format!("p{percent}"), "direct", direct.percentile(percent));
    }
    drop((watchers, sessions));
    drop(pair);
    let bytes = (watched.bytes / watched.received.max(1)).to_string();
    bare(lab, report, &speech, &bytes)
}

/// Measures the floor `axum`: the same rate and frame length from a bare server to as many clients.
fn bare(lab: &Lab, report: &mut Report, speech: &Speech, bytes: &str) -> io::Result<()> {
    let (rooms, count, pace) = (WORKERS.to_string(), speech.count.to_string(), PACE.to_string());
    let floor = FloorServer::start(&lab.own, ["broadcast", &rooms, &count, bytes, &pace])?;
    let mut watchers = (0..WORKERS * CLIENTS)
        .map(|number| Watcher::open(floor.address(), &format!("/rooms/{}", number % WORKERS), None))
        .collect::<io::Result<Vec<_>>>()?;
    let before = floor.cpu();
    let mut begun = Connection::open(floor.address())?;
    begun.send(&http::post("/begin", ""))?;
    let watched = watch(&mut watchers, speech.count)?;
    report.add("hub.cpu", "axum", per_piece(floor.cpu() - before, &watched));
    for percent in [50, 99] {
        report.add(format!("hub.p{percent}"), "axum", watched.percentile(percent));
    }
    Ok(())
}

/// Measures one client that never reads among many that do. The others must not become slower, and the hub must
/// report to the slow client that it has fallen behind.
fn never_reads(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let (alone, _) = beside(lab, false)?;
    let (with, stalled) = beside(lab, true)?;
    let mut add = |what: &str, value: f64| report.add(format!("hub.stalled.{what}"), "ours", value);
    add("without", alone.percentile(99));
    add("with", with.percentile(99));
    let expected = LONG.count * OTHERS as u64;
    add("lost", expected.saturating_sub(with.received) as f64);
    let Some(Stalled { grown_mib, told, resumed }) = stalled else { return Ok(()) };
    add("grown", grown_mib);
    add("silent", f64::from(u8::from(!told)));
    add("resumed", f64::from(u8::from(resumed)));
    Ok(())
}

/// The result for the client that never read.
struct Stalled {
    /// The growth of the hub's memory since before the client connected.
    grown_mib: f64,
    /// The hub's last frame to the client reports that the client lags.
    told: bool,
    /// The hub accepted the cursor of that report, or reported that the cursor has expired.
    resumed: bool,
}

/// Streams a long message to many clients, with or without one more client that never reads.
fn beside(lab: &Lab, stalled: bool) -> io::Result<(Watched, Option<Stalled>)> {
    let pair = Pair::start(lab)?;
    let sessions = pair.sessions(1)?;
    let mut watchers = (0..OTHERS).map(|_| pair.watcher(0, "")).collect::<io::Result<Vec<_>>>()?;
    let before = proc::rss_kib(pair.hub.pid());
    let sleeping = stalled.then(|| pair.watcher(0, "")).transpose()?;
    let mut connection = pair.daemon.connect()?;
    sessions[0].say(&mut connection, &LONG.prompt())?;
    let watched = watch(&mut watchers, LONG.count)?;
    let grown_mib = (proc::rss_kib(pair.hub.pid()) as f64 - before as f64) / 1024.0;
    let Some(sleeping) = sleeping else { return Ok((watched, None)) };
    let last = sleeping.rest().pop().unwrap_or_default();
    let told: serde_json::Value = serde_json::from_str(&last).unwrap_or_default();
    let diagnostic = &told["diagnostic"];
    let cursor = diagnostic["details"]["cursor"].as_str().unwrap_or_default();
    // The client may have missed more than the hub retains. The first frame then reports that the cursor has expired,
    // which is as good: the client knows that it has a gap.
    let resumed = pair.watcher(0, &format!("?cursor={cursor}")).is_ok();
    Ok((watched, Some(Stalled { grown_mib, told: diagnostic["code"] == "backend.lagged", resumed })))
}

/// Returns the CPU time per delivered piece, in µs.
fn per_piece(cpu: Duration, watched: &Watched) -> f64 {
    cpu.as_secs_f64() * 1e6 / watched.received.max(1) as f64
}

fn panicked() -> io::Error {
    io::Error::other("a thread of the measurement panicked")
}
