//! Many who watch many workers through the hub, beside the same bytes from a bare server; and one who never reads.

use std::{io, net::SocketAddr, time::Duration};

use serde_json::json;

use testkit::Hub;

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

/// How many workers there are, …
const WORKERS: usize = 100;
/// … how many watch each, …
const CLIENTS: usize = 20;
/// … and how many events each has per second.
const PACE: u64 = 20;

/// How long the text of an event is: a few words, as models say them.
const TEXT_BYTES: usize = 60;

/// How many workers are also watched without the hub, to know what it adds.
const DIRECT: usize = 10;

/// How many watch one worker beside the one who never reads, …
const OTHERS: usize = 99;
/// … and what it says: far more than is kept for anyone.
const LONG: Speech = Speech { count: 8_000, bytes: TEXT_BYTES, per_second: 400 };

/// How long an ordinary request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The name of the daemon at the hub.
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

/// A daemon and a hub that knows it.
struct Pair {
    daemon: Server,
    hub: Hub,
    address: SocketAddr,
}

impl Pair {
    fn start(lab: &Lab) -> io::Result<Self> {
        let (daemon, hub) = (lab.start(Subject::Ours)?, Hub::start(&lab.ours));
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

    /// The sessions `w0` and so on, each with its agent.
    fn sessions(&self, count: usize) -> io::Result<Vec<Session<'_>>> {
        (0..count).map(|number| Session::open(&self.daemon, format!("w{number}"))).collect()
    }

    fn watcher(&self, worker: usize, query: &str) -> io::Result<Watcher> {
        let path = format!("/api/runtimes/{RUNTIME}/workers/w{worker}/events/ws{query}");
        Watcher::open(self.address, &path, Some(self.hub.token()))
    }

    fn direct(&self, worker: usize) -> io::Result<Watcher> {
        Watcher::open(self.daemon.address(), &format!("/v1/workers/w{worker}/events/ws"), None)
    }
}

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
        // Half of the time in, the hub keeps as much as it may of each. At the end each message is told once more as a whole,
        // which is another load: the last look is before that.
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

/// The same from a bare server.
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

/// One who never reads among many who do: they must not notice, and it must be told.
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

/// What became of the one who never read.
struct Stalled {
    /// What the hub has in use more than before it came.
    grown_mib: f64,
    /// It was told that it lags.
    told: bool,
    /// The cursor that it was told was taken again, or it was told that this one has expired.
    resumed: bool,
}

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
    // What was missed meanwhile is more than is kept: it is told so, which is as good.
    let resumed = pair.watcher(0, &format!("?cursor={cursor}")).is_ok();
    Ok((watched, Some(Stalled { grown_mib, told: diagnostic["code"] == "backend.lagged", resumed })))
}

/// The CPU time for each piece that somebody got, in µs.
fn per_piece(cpu: Duration, watched: &Watched) -> f64 {
    cpu.as_secs_f64() * 1e6 / watched.received.max(1) as f64
}

fn panicked() -> io::Error {
    io::Error::other("a thread of the measurement panicked")
}
