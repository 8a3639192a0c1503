//! The memory that history needs, divided by the raw bytes of the lines that a new reader can still get.

use std::{io, time::Duration};

use super::flood;
use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock, http, server_process::ServerProcess,
    stream_readers::StreamReaders, stub_agent::Flood,
};

/// The lengths of the lines.
const SIZES: [(&str, usize); 4] = [("200b", 200), ("1k", 1_000), ("10k", 10_000), ("1m", 1_000_000)];

/// The larger of the two ring sizes with which our daemon is measured; the other one is its default.
const LARGE_RING: [&str; 4] = ["--events-max", "1000000", "--events-bytes-max", "67108864"];
const LARGE_RING_BYTES: u64 = 64 << 20;

/// A first flood that loads the code and the thread stacks which floods and compression need. They are not a cost of
/// history.
const WARM_UP: Flood = Flood { from: 0, count: 400, bytes: 200, per_second: 0 };

/// The pause before each reading of the memory. Our daemon compresses its history when the agent is idle, and
/// allocators return memory with a delay.
const SETTLE: Duration = Duration::from_secs(1);

/// The longest time until a server has deleted an instance.
const DELETE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let sizes = setup.full_or_quick(SIZES.to_vec(), vec![SIZES[0], SIZES[2]]);
    for (name, bytes) in sizes {
        // The default ring: enough lines to fill it several times, whether its limit is in events or in bytes.
        let lines = (80_000_000 / bytes as u64).clamp(80, 40_000);
        measure_history(
            report,
            &format!("memory.{name}"),
            "ours",
            &setup.start(SystemUnderTest::Ours)?,
            bytes,
            lines,
        )?;
        let lines = 3 * LARGE_RING_BYTES / bytes as u64;
        measure_history(
            report,
            &format!("memory64.{name}"),
            "ours",
            &setup.start_ours(&LARGE_RING)?,
            bytes,
            lines,
        )?;
        if setup.peer.is_some() {
            let lines = (setup.full_or_quick(100_000_000, 25_000_000) / bytes as u64)
                .clamp(25, setup.full_or_quick(20_000, 5_000));
            measure_history(
                report,
                &format!("memory.{name}"),
                "peer",
                &setup.start(SystemUnderTest::Peer)?,
                bytes,
                lines,
            )?;
        }
    }
    Ok(())
}

fn measure_history(
    report: &mut RunReport,
    key: &str,
    system: &str,
    server: &ServerProcess,
    bytes: usize,
    lines: u64,
) -> io::Result<()> {
    // Our daemon returns the memory that only its start needed. If it did so later, the flood would seem to need
    // less.
    clock::pause(SETTLE);
    server.start_instance("kept")?;
    flood(server, "kept", &WARM_UP)?;
    clock::pause(SETTLE);
    let before = server.rss_kib();
    let main = Flood { from: WARM_UP.count, count: lines, bytes, per_second: 0 };
    if let Err(error) = flood(server, "kept", &main) {
        report.note(format!("{key}.ratio"), system, error.to_string());
        return Ok(());
    }
    clock::pause(SETTLE);
    let grown_kib = server.rss_kib().saturating_sub(before) as f64;
    // Count the lines that a new reader gets, not those that the server should have kept.
    let mut replay = StreamReaders::open(server.address(), "/v1/acp/kept", "Last-Event-ID: 0", 1)?;
    let kept = replay.count_lines(&main, || Ok(()))?.received;
    drop(replay);
    let deleted =
        http::request_once(server.address(), &http::request("DELETE", "/v1/acp/kept", ""), DELETE_TIMEOUT);
    if deleted.is_err() {
        report.note(format!("{key}.left"), system, "DELETE does not return");
    }
    clock::pause(SETTLE);
    let left_kib = server.rss_kib().saturating_sub(before) as f64;
    report.add(format!("{key}.ratio"), system, grown_kib * 1024.0 / (kept * bytes as u64) as f64);
    report.add(format!("{key}.kept"), system, (kept * bytes as u64) as f64 / 1e6);
    report.add(format!("{key}.grown"), system, grown_kib / 1024.0);
    report.add(format!("{key}.left"), system, left_kib / 1024.0);
    Ok(())
}
