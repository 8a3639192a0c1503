//! Clients that open a stream and never read. They must not slow down the agent or other readers, and the server must
//! report the gap to them.

use std::{io, time::Duration};

use super::{flood_request, millis};
use crate::{
    BenchSetup, RunReport, SystemUnderTest, line_counter::LineCounter, stream_readers::StreamReaders,
    stub_agent::Flood,
};

/// The number of clients that never read.
const STALLED: usize = 10;

/// 200 MB: far more than the server and the sockets buffer for one client.
const FLOOD: Flood = Flood { from: 0, count: 20_000, bytes: 10_000, per_second: 0 };

/// After this time without data, a stalled client has received everything that it will get.
const IDLE: Duration = Duration::from_millis(500);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    for round in 0..setup.full_or_quick(9, 2) {
        // The peer takes seconds per flood and no performance bar depends on it: a full run measures it once, a quick
        // one never.
        let systems = if round == 0 {
            setup.full_or_quick(setup.systems(), vec![SystemUnderTest::Ours])
        } else {
            vec![SystemUnderTest::Ours]
        };
        for system in systems {
            let without = measure_flood(setup, report, system, 0)?;
            let with = measure_flood(setup, report, system, STALLED)?;
            report.add("stalled.without", system.name(), millis(without));
            report.add("stalled.with", system.name(), millis(with));
            report.add("stalled.ratio", system.name(), with.as_secs_f64() / without.as_secs_f64());
        }
    }
    Ok(())
}

/// Returns the time in which one reader receives the whole flood, beside `stalled` clients that never read.
fn measure_flood(
    setup: &BenchSetup,
    report: &mut RunReport,
    system: SystemUnderTest,
    stalled: usize,
) -> io::Result<Duration> {
    let server = setup.start(system)?;
    server.start_instance("stalled")?;
    let path = "/v1/acp/stalled";
    let stalled_readers = StreamReaders::open(server.address(), path, "", stalled)?;
    let mut reader = StreamReaders::open(server.address(), path, "", 1)?;
    let mut connection = server.connect()?;
    let before = server.rss_kib();
    let delivery = reader.count_lines(&FLOOD, || connection.send(&flood_request("stalled", &FLOOD)))?;
    let expected = FLOOD.count as f64;
    if stalled > 0 {
        report.add("stalled.loss", system.name(), delivery.lost as f64 / expected * 100.0);
        report.add("stalled.grown", system.name(), server.rss_kib().saturating_sub(before) as f64 / 1024.0);
        let output = stalled_readers.read_until_idle(IDLE)?;
        let gap_reported = memchr::memmem::find(&output, b"event: gap").is_some();
        let mut counter = LineCounter::new(FLOOD.from, FLOOD.count, FLOOD.bytes);
        counter.feed(&output);
        let missed = expected - counter.received() as f64;
        report.add("stalled.missed", system.name(), missed / expected * 100.0);
        report.add("stalled.silent", system.name(), f64::from(u8::from(!gap_reported && missed > 0.0)));
    }
    Ok(delivery.elapsed)
}
