//! Many clients that watch many workers through the hub, compared with a bare server that sends the same amount of
//! data; and the effect of one client that never reads.

use std::{io, net::SocketAddr, time::Duration};

use serde_json::json;

use testkit::TestHub;

use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock,
    floor::FloorServer,
    http::{self, HttpConnection},
    proc,
    server_process::ServerProcess,
    stub_agent::StreamedMessage,
    stub_session::{StubSession, json_body},
    websocket_watcher::{WatchedPieces, WebSocketWatcher, watch_all},
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
const LONG: StreamedMessage = StreamedMessage { count: 8_000, bytes: TEXT_BYTES, per_second: 400 };

/// The read timeout of an ordinary request.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The id of the daemon at the hub.
const RUNTIME: &str = "box";

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let seconds = setup.full_or_quick(120, 5);
    for _ in 0..setup.full_or_quick(2, 1) {
        fan_out(setup, report, seconds)?;
    }
    for _ in 0..setup.full_or_quick(3, 1) {
        measure_stalled_client(setup, report)?;
    }
    Ok(())
}

/// A daemon and a hub with which the daemon is registered as a runtime.
struct HubWithDaemon {
    daemon: ServerProcess,
    hub: TestHub,
    address: SocketAddr,
}

impl HubWithDaemon {
    fn start(setup: &BenchSetup) -> io::Result<Self> {
        let (daemon, hub) = (setup.start(SystemUnderTest::Ours)?, TestHub::start(&setup.ours));
        let address = hub.base().trim_start_matches("http://").parse().map_err(io::Error::other)?;
        let add = json!({ "id": RUNTIME, "endpoint": format!("http://{}", daemon.address()) }).to_string();
        let header = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}",
            hub.token(),
            add.len()
        );
        let mut request = http::request("POST", "/api/runtimes", &header);
        request.extend_from_slice(add.as_bytes());
        json_body(&http::request_once(address, &request, READ_TIMEOUT)?, 201)?;
        Ok(Self { daemon, hub, address })
    }

    /// Opens the sessions `w0`, `w1` and so on, each with an agent process.
    fn open_sessions(&self, count: usize) -> io::Result<Vec<StubSession<'_>>> {
        (0..count).map(|number| StubSession::open(&self.daemon, format!("w{number}"))).collect()
    }

    /// Watches a worker through the hub.
    fn watch_through_hub(&self, worker: usize, query: &str) -> io::Result<WebSocketWatcher> {
        let path = format!("/api/runtimes/{RUNTIME}/workers/w{worker}/events/ws{query}");
        WebSocketWatcher::open(self.address, &path, Some(self.hub.token()))
    }

    /// Watches a worker at the daemon itself.
    fn watch_directly(&self, worker: usize) -> io::Result<WebSocketWatcher> {
        WebSocketWatcher::open(self.daemon.address(), &format!("/v1/workers/w{worker}/events/ws"), None)
    }
}

/// Measures latency, loss, CPU time and memory of the hub while all workers stream text to all clients.
fn fan_out(setup: &BenchSetup, report: &mut RunReport, seconds: u64) -> io::Result<()> {
    let message = StreamedMessage { count: PACE * seconds, bytes: TEXT_BYTES, per_second: PACE };
    let servers = HubWithDaemon::start(setup)?;
    let sessions = servers.open_sessions(WORKERS)?;
    let start_messages = |message: &StreamedMessage| {
        let mut connection = servers.daemon.connect()?;
        sessions.iter().try_for_each(|session| session.send_message(&mut connection, &message.prompt()))
    };
    let mut watchers = (0..WORKERS * CLIENTS)
        .map(|number| servers.watch_through_hub(number % WORKERS, ""))
        .collect::<io::Result<Vec<_>>>()?;
    let mut direct =
        (0..DIRECT).map(|worker| servers.watch_directly(worker)).collect::<io::Result<Vec<_>>>()?;
    let (pid, before) = (servers.hub.pid(), proc::cpu(servers.hub.pid()));
    let (watched, direct, grown) = std::thread::scope(|scope| {
        let starting = scope.spawn(|| start_messages(&message));
        let direct = scope.spawn(|| watch_all(&mut direct, message.count));
        // Memory must not grow once the hub's history of each worker is full, which it is after half of the run. The
        // second reading is at 23/24 of the run: at the end each worker sends its whole message once more, which is
        // another load.
        let grown = scope.spawn(|| {
            let rss_after = |pause: Duration| {
                clock::pause(pause);
                proc::rss_kib(pid) as f64 / 1024.0
            };
            let half = Duration::from_secs(seconds) / 2;
            let early = rss_after(half);
            rss_after(half * 11 / 12) - early
        });
        let watched = watch_all(&mut watchers, message.count);
        starting.join().map_err(|_| panicked())??;
        let direct = direct.join().map_err(|_| panicked())??;
        io::Result::Ok((watched?, direct, grown.join().map_err(|_| panicked())?))
    })?;
    let cpu = proc::cpu(pid) - before;
    let mut add = |what: &str, system: &str, value: f64| report.add(format!("hub.{what}"), system, value);
    let expected = message.count * (WORKERS * CLIENTS) as u64;
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
    drop(servers);
    let bytes = (watched.bytes / watched.received.max(1)).to_string();
    measure_floor(setup, report, &message, &bytes)
}

/// Measures the floor `axum`: the same rate and frame length from a bare server to as many clients.
fn measure_floor(
    setup: &BenchSetup,
    report: &mut RunReport,
    message: &StreamedMessage,
    bytes: &str,
) -> io::Result<()> {
    let (rooms, count, pace) = (WORKERS.to_string(), message.count.to_string(), PACE.to_string());
    let floor = FloorServer::start(&setup.own, ["broadcast", &rooms, &count, bytes, &pace])?;
    let mut watchers = (0..WORKERS * CLIENTS)
        .map(|number| WebSocketWatcher::open(floor.address(), &format!("/rooms/{}", number % WORKERS), None))
        .collect::<io::Result<Vec<_>>>()?;
    let before = floor.cpu();
    let mut connection = HttpConnection::open(floor.address())?;
    connection.send(&http::post("/begin", ""))?;
    let watched = watch_all(&mut watchers, message.count)?;
    report.add("hub.cpu", "axum", per_piece(floor.cpu() - before, &watched));
    for percent in [50, 99] {
        report.add(format!("hub.p{percent}"), "axum", watched.percentile(percent));
    }
    Ok(())
}

/// Measures one client that never reads among many that do. The others must not become slower, and the hub must
/// report to the slow client that it has fallen behind.
fn measure_stalled_client(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let (alone, _) = stream_to_clients(setup, false)?;
    let (with, stalled) = stream_to_clients(setup, true)?;
    let mut add = |what: &str, value: f64| report.add(format!("hub.stalled.{what}"), "ours", value);
    add("without", alone.percentile(99));
    add("with", with.percentile(99));
    let expected = LONG.count * OTHERS as u64;
    add("lost", expected.saturating_sub(with.received) as f64);
    let Some(StalledClient { grown_mib, lag_reported, resumed }) = stalled else { return Ok(()) };
    add("grown", grown_mib);
    add("silent", f64::from(u8::from(!lag_reported)));
    add("resumed", f64::from(u8::from(resumed)));
    Ok(())
}

/// The result for the client that never read.
struct StalledClient {
    /// The growth of the hub's memory since before the client connected.
    grown_mib: f64,
    /// The hub's last frame to the client reports that the client lags.
    lag_reported: bool,
    /// The hub accepted the cursor of that report, or reported that the cursor has expired.
    resumed: bool,
}

/// Streams a long message to many clients, with or without one more client that never reads.
fn stream_to_clients(
    setup: &BenchSetup,
    stalled: bool,
) -> io::Result<(WatchedPieces, Option<StalledClient>)> {
    let servers = HubWithDaemon::start(setup)?;
    let sessions = servers.open_sessions(1)?;
    let mut watchers =
        (0..OTHERS).map(|_| servers.watch_through_hub(0, "")).collect::<io::Result<Vec<_>>>()?;
    let before = proc::rss_kib(servers.hub.pid());
    let stalled_watcher = stalled.then(|| servers.watch_through_hub(0, "")).transpose()?;
    let mut connection = servers.daemon.connect()?;
    sessions[0].send_message(&mut connection, &LONG.prompt())?;
    let watched = watch_all(&mut watchers, LONG.count)?;
    let grown_mib = (proc::rss_kib(servers.hub.pid()) as f64 - before as f64) / 1024.0;
    let Some(stalled_watcher) = stalled_watcher else { return Ok((watched, None)) };
    let last = stalled_watcher.rest().pop().unwrap_or_default();
    let last: serde_json::Value = serde_json::from_str(&last).unwrap_or_default();
    let diagnostic = &last["diagnostic"];
    let cursor = diagnostic["details"]["cursor"].as_str().unwrap_or_default();
    // The client may have missed more than the hub retains. The first frame then reports that the cursor has expired,
    // which is as good: the client knows that it has a gap.
    let resumed = servers.watch_through_hub(0, &format!("?cursor={cursor}")).is_ok();
    Ok((
        watched,
        Some(StalledClient { grown_mib, lag_reported: diagnostic["code"] == "backend.lagged", resumed }),
    ))
}

/// Returns the CPU time per delivered piece, in µs.
fn per_piece(cpu: Duration, watched: &WatchedPieces) -> f64 {
    cpu.as_secs_f64() * 1e6 / watched.received.max(1) as f64
}

fn panicked() -> io::Error {
    io::Error::other("a thread of the measurement panicked")
}
