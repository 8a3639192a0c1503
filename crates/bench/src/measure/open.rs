//! A session with a long history: the time to open it, and the time and memory to read all of it.

use std::{
    io,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::millis;
use crate::{
    BenchSetup, RunReport, SystemUnderTest, http, proc,
    server_process::ServerProcess,
    stub_agent::StreamedMessage,
    stub_session::{StubSession, TURN_ENDED, json_body},
};

/// The least number of events in the session.
const EVENTS: u64 = 100_000;

/// The agent's output in each turn of the history.
const TURN: StreamedMessage = StreamedMessage { count: 2_000, bytes: 40, per_second: 0 };

/// A turn that is still running when the server is killed.
const LAST: StreamedMessage = StreamedMessage { count: 1_000_000, bytes: 40, per_second: 1_000 };

/// The number of events in a page.
const PAGE: u64 = 1_000;

/// The longest time until the server exits after a signal.
const END_MAX: Duration = Duration::from_secs(10);

const NAME: &str = "long";

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let mut server = setup.start(SystemUnderTest::Ours)?;
    create_history(&server)?;
    for _ in 0..setup.full_or_quick(7, 3) {
        server.restart(Signal::TERM, END_MAX)?;
        report.add("open.first", "ours", millis(open(&server)?));
        report.add("open.again", "ours", millis(open(&server)?));
    }
    for _ in 0..setup.full_or_quick(3, 1) {
        server.restart(Signal::TERM, END_MAX)?;
        read_pages(report, &server)?;
    }
    for _ in 0..setup.full_or_quick(5, 2) {
        let session = StubSession::open(&server, NAME)?;
        let mut events = session.open_events(session.newest_seq()?)?;
        session.send_message(&mut server.connect()?, &LAST.prompt())?;
        events.wait_for_event(b"n=0000900")?;
        server.restart(Signal::KILL, END_MAX)?;
        report.add("open.killed", "ours", millis(open(&server)?));
    }
    Ok(())
}

/// Runs turns in a session until its history is long enough.
fn create_history(server: &ServerProcess) -> io::Result<()> {
    let session = StubSession::open(server, NAME)?;
    let mut events = session.open_events(0)?;
    let mut connection = server.connect()?;
    while session.newest_seq()? < EVENTS {
        session.send_message(&mut connection, &TURN.prompt())?;
        events.wait_for_event(TURN_ENDED)?;
    }
    Ok(())
}

/// Returns the time until a client has the snapshot of the session and an open event stream after it.
fn open(server: &ServerProcess) -> io::Result<Duration> {
    let session = StubSession::existing(server, NAME);
    let request = http::request("GET", &session.path("/snapshot"), "");
    let started = Instant::now();
    let snapshot = server.request(&request)?;
    let mut took = started.elapsed();
    // Parsing the snapshot is work of the client, so it is not part of the time.
    let seq = json_body(&snapshot, 200)?["seq"].as_u64().filter(|seq| *seq >= EVENTS);
    let seq = seq.ok_or_else(|| io::Error::other("the session has lost events"))?;
    let started = Instant::now();
    session.open_events(seq)?;
    took += started.elapsed();
    Ok(took)
}

/// Reads all events of the session page by page, and reports the time and the growth of the server's memory.
fn read_pages(report: &mut RunReport, server: &ServerProcess) -> io::Result<()> {
    let session = StubSession::existing(server, NAME);
    let (mut connection, mut offset) = (server.connect()?, 0);
    proc::forget_peak(server.pid());
    let (before, started) = (server.rss_kib(), Instant::now());
    let newest = session.newest_seq()?;
    while offset < newest {
        let path = session.path(&format!("/events?offset={offset}&limit={PAGE}"));
        let page = connection.request(&http::request("GET", &path, ""))?;
        let page: serde_json::Value = serde_json::from_slice(&page.body)?;
        let events = page["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        let numbered = events.iter().zip(offset + 1..).all(|(event, seq)| event["seq"] == seq);
        if events.is_empty() || !numbered || page["hasMore"] != (offset + (events.len() as u64) < newest) {
            return Err(io::Error::other(format!("a page after {offset} is not complete")));
        }
        offset += events.len() as u64;
    }
    report.add("open.paged", "ours", millis(started.elapsed()));
    let grown = proc::peak_kib(server.pid()).saturating_sub(before) as f64 / 1024.0;
    report.add("open.paged.grown", "ours", grown);
    Ok(())
}
