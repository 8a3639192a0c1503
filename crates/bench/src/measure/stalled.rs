//! Readers that do not read: they must not hold the agent, and must be told what they missed.

use std::{io, time::Duration};

use super::{flood_request, millis};
use crate::{Lab, Report, Subject, readers::Readers, stub::Flood, tally::Tally};

const STALLED: usize = 10;

/// 200 MB.
const FLOOD: Flood = Flood { from: 0, count: 20_000, bytes: 10_000, per_second: 0 };

/// When nothing came for so long, a stalled reader has read all that it will get.
const IDLE: Duration = Duration::from_millis(500);

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    for round in 0..lab.size(9, 2) {
        // A peer takes seconds for each, and no bar depends on it: it is asked once, or not at all.
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

/// How long a reader that reads takes to get everything beside `stalled` that do not.
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
