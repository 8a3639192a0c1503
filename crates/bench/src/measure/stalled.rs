//! Clients that open a stream and never read. They must not slow down the agent or other readers, and the server must
//! report the gap to them.

use std::{io, time::Duration};

use super::{flood_request, millis};
use crate::{Lab, Report, Subject, readers::Readers, stub::Flood, tally::Tally};

/// The number of clients that never read.
const STALLED: usize = 10;

/// 200 MB: far more than the server and the sockets buffer for one client.
const FLOOD: Flood = Flood { from: 0, count: 20_000, bytes: 10_000, per_second: 0 };

/// After this time without data, a stalled client has received everything that it will get.
const IDLE: Duration = Duration::from_millis(500);

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    for round in 0..lab.size(9, 2) {
        // The peer takes seconds per flood and no performance bar depends on it: a full run measures it once, a quick
        // one never.
        let subjects =
            if round == 0 { lab.size(lab.subjects(), vec![Subject::Ours]) } else { vec![Subject::Ours] };
        for subject in subjects {
            let without = one(lab, report, subject, 0)?;
            let with = one(lab, report, subject, STALLED)?;
            report.add("stalled.without", subject.name(), millis(without));
            report.add("stalled.with", subject.name(), millis(with));
            report.add("stalled.ratio", subject.name(), with.as_secs_f64() / without.as_secs_f64());
        }
    }
    Ok(())
}

/// Returns the time in which one reader receives the whole flood, beside `stalled` clients that never read.
fn one(lab: &Lab, report: &mut Report, subject: Subject, stalled: usize) -> io::Result<Duration> {
    let server = lab.start(subject)?;
    server.instance("stalled")?;
    let path = "/v1/acp/stalled";
    let sleeping = Readers::open(server.address(), path, "", stalled)?;
    let mut reader = Readers::open(server.address(), path, "", 1)?;
    let mut asking = server.connect()?;
    let before = server.rss_kib();
    let delivered = reader.count(&FLOOD, || asking.send(&flood_request("stalled", &FLOOD)))?;
    let expected = FLOOD.count as f64;
    if stalled > 0 {
        report.add("stalled.loss", subject.name(), delivered.lost as f64 / expected * 100.0);
        report.add("stalled.grown", subject.name(), server.rss_kib().saturating_sub(before) as f64 / 1024.0);
        let said = sleeping.rest(IDLE)?;
        let told = memchr::memmem::find(&said, b"event: gap").is_some();
        let mut tally = Tally::new(FLOOD.from, FLOOD.count, FLOOD.bytes);
        tally.feed(&said);
        let missed = expected - tally.received() as f64;
        report.add("stalled.missed", subject.name(), missed / expected * 100.0);
        report.add("stalled.silent", subject.name(), f64::from(u8::from(!told && missed > 0.0)));
    }
    Ok(delivered.elapsed)
}
