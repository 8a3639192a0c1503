//! What it costs to keep history: memory against the bytes of the lines that can still be read.

use std::{io, time::Duration};

use super::flood;
use crate::{Lab, Report, Subject, clock, http, readers::Readers, server::Server, stub::Flood};

/// How long lines are.
const SIZES: [(&str, usize); 4] = [("200b", 200), ("1k", 1_000), ("10k", 10_000), ("1m", 1_000_000)];

/// The larger of the two rings that ours is measured with.
const LARGE_RING: [&str; 4] = ["--events-max", "1000000", "--events-bytes-max", "67108864"];
const LARGE_RING_BYTES: u64 = 64 << 20;

/// Touches the code and the stacks that a flood needs, and what packs it afterwards.
const WARM_UP: Flood = Flood { from: 0, count: 400, bytes: 200, per_second: 0 };

/// Memory may take a moment to go back, and ours packs what it keeps once the agent rests.
const SETTLE: Duration = Duration::from_secs(1);

/// How long a server may take to delete an instance.
const DELETE_PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let sizes = lab.size(SIZES.to_vec(), vec![SIZES[0], SIZES[2]]);
    for (name, bytes) in sizes {
        // As it comes: some times what the ring keeps, whether that is bounded in events or in bytes.
        let lines = (80_000_000 / bytes as u64).clamp(80, 40_000);
        one(report, &format!("memory.{name}"), "ours", &lab.start(Subject::Ours)?, bytes, lines)?;
        let lines = 3 * LARGE_RING_BYTES / bytes as u64;
        one(report, &format!("memory64.{name}"), "ours", &lab.start_ours(&LARGE_RING)?, bytes, lines)?;
        if lab.peer.is_some() {
            let lines = (lab.size(100_000_000, 25_000_000) / bytes as u64).clamp(25, lab.size(20_000, 5_000));
            one(report, &format!("memory.{name}"), "peer", &lab.start(Subject::Peer)?, bytes, lines)?;
        }
    }
    Ok(())
}

fn one(
    report: &mut Report,
    key: &str,
    subject: &str,
    server: &Server,
    bytes: usize,
    lines: u64,
) -> io::Result<()> {
    // Ours returns what only its start needed; that is not to be taken for something that the flood needs.
    clock::pause(SETTLE);
    server.instance("kept")?;
    flood(server, "kept", &WARM_UP)?;
    clock::pause(SETTLE);
    let before = server.rss_kib();
    let main = Flood { from: WARM_UP.count, count: lines, bytes, per_second: 0 };
    if let Err(error) = flood(server, "kept", &main) {
        report.note(format!("{key}.ratio"), subject, error.to_string());
        return Ok(());
    }
    clock::pause(SETTLE);
    let grown_kib = server.rss_kib().saturating_sub(before) as f64;
    // What can still be read is what counts as kept.
    let mut replay = Readers::open(server.address(), "/v1/acp/kept", "Last-Event-ID: 0", 1)?;
    let kept = replay.count(&main, || Ok(()))?.received;
    drop(replay);
    let deleted = http::once(server.address(), &http::request("DELETE", "/v1/acp/kept", ""), DELETE_PATIENCE);
    if deleted.is_err() {
        report.note(format!("{key}.left"), subject, "DELETE does not return");
    }
    clock::pause(SETTLE);
    let left_kib = server.rss_kib().saturating_sub(before) as f64;
    report.add(format!("{key}.ratio"), subject, grown_kib * 1024.0 / (kept * bytes as u64) as f64);
    report.add(format!("{key}.kept"), subject, (kept * bytes as u64) as f64 / 1e6);
    report.add(format!("{key}.grown"), subject, grown_kib / 1024.0);
    report.add(format!("{key}.left"), subject, left_kib / 1024.0);
    Ok(())
}
