//! Agent output that is streamed to many readers: its rate, the lost lines and the CPU time per delivered line.

use std::{io, net::TcpStream, time::Duration};

use super::{flood_request, micros};
use crate::{
    Lab, Report, Subject,
    floor::FloorServer,
    readers::{Delivered, Readers},
    server::Server,
    stub::Flood,
};

/// One kind of flood.
struct Case {
    key: &'static str,
    bytes: usize,
    readers: usize,
    per_second: u64,
    /// The number of lines for our daemon and for the peer, which would take minutes for as many.
    counts: [u64; 2],
}

const CASES: [Case; 4] = [
    Case { key: "sse.200b50", bytes: 200, readers: 50, per_second: 0, counts: [60_000, 10_000] },
    Case { key: "sse.10k1", bytes: 10_000, readers: 1, per_second: 0, counts: [40_000, 8_000] },
    Case { key: "sse.10k50", bytes: 10_000, readers: 50, per_second: 0, counts: [4_000, 400] },
    Case { key: "sse.paced", bytes: 200, readers: 50, per_second: 500, counts: [1_000, 1_000] },
];

/// The divisors of the line counts in a quick run, for our daemon and for the peer. Smaller floods would fit into the
/// buffers of the peer, which would then lose nothing and look better than it is.
const QUICK_PARTS: [u64; 2] = [4, 5];

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    for case in &CASES {
        let mut streams = Vec::new();
        for subject in lab.subjects() {
            let server = lab.start(subject)?;
            server.instance(case.key)?;
            let path = format!("/v1/acp/{}", case.key);
            let readers = Readers::open(server.address(), &path, "", case.readers)?;
            streams.push((subject, server, readers));
        }
        let rounds = if case.per_second > 0 { lab.size(3, 1) } else { lab.size(5, 2) };
        for round in 0..rounds {
            for (subject, server, readers) in &mut streams {
                one(lab, report, case, round, (*subject, server), readers)?;
            }
            if case.per_second == 0 {
                floor(lab, report, case)?;
            }
        }
    }
    Ok(())
}

/// Runs one flood through a server. Each round has line numbers of its own, so that late lines of the last one do not
/// count.
fn one(
    lab: &Lab,
    report: &mut Report,
    case: &Case,
    round: u64,
    (subject, server): (Subject, &Server),
    readers: &mut Readers,
) -> io::Result<()> {
    let count = case.count(lab, subject);
    let flood = Flood { from: round * count, count, bytes: case.bytes, per_second: case.per_second };
    let mut asking = server.connect()?;
    let before = server.cpu();
    let delivered = readers.count(&flood, || asking.send(&flood_request(case.key, &flood)))?;
    let cpu = server.cpu() - before;
    add(report, case, subject.name(), count, &delivered, cpu);
    // The response follows when the agent has written all lines. Wait for it, so that this flood cannot overlap with
    // the next.
    let _ = asking.answer();
    Ok(())
}

/// Runs the same flood through the floor `fanout`. It is a new process for each round, so all of its CPU time counts.
fn floor(lab: &Lab, report: &mut Report, case: &Case) -> io::Result<()> {
    let count = case.count(lab, Subject::Ours);
    let stub = lab.stub.to_string_lossy();
    let (readers, lines, bytes) = (case.readers.to_string(), count.to_string(), case.bytes.to_string());
    let mut server = FloorServer::start(&lab.own, ["fanout", &stub, &readers, &lines, &bytes])?;
    let open = |_| TcpStream::connect(server.address());
    let streams: Vec<TcpStream> = (0..case.readers).map(open).collect::<io::Result<_>>()?;
    let last = streams.last().map(TcpStream::try_clone).transpose()?;
    let flood = Flood { from: 0, count, bytes: case.bytes, per_second: 0 };
    let mut readers = Readers::bare(streams)?;
    let begin = || last.map_or(Ok(()), |mut last| io::Write::write_all(&mut last, b"."));
    let delivered = readers.count(&flood, begin)?;
    add(report, case, "fanout", count, &delivered, server.cpu());
    drop(readers);
    server.finish()
}

fn add(report: &mut Report, case: &Case, subject: &str, count: u64, delivered: &Delivered, cpu: Duration) {
    let key = |figure: &str| format!("{}.{figure}", case.key);
    let seconds = delivered.elapsed.as_secs_f64();
    let expected = (count * case.readers as u64) as f64;
    report.add(key("rate"), subject, count as f64 / seconds);
    report.add(key("mbps"), subject, delivered.received as f64 * case.bytes as f64 / seconds / 1e6);
    report.add(key("loss"), subject, delivered.lost as f64 / expected * 100.0);
    report.add(key("disorder"), subject, delivered.disordered as f64);
    report.add(key("cpu"), subject, micros(cpu) / delivered.received.max(1) as f64);
}

impl Case {
    fn count(&self, lab: &Lab, subject: Subject) -> u64 {
        let which = usize::from(subject == Subject::Peer);
        let count = self.counts[which];
        lab.size(count, count / QUICK_PARTS[which])
    }
}
