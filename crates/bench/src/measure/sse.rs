//! Agent output that is streamed to many readers: its rate, the lost lines and the CPU time per delivered line.

use std::{io, net::TcpStream, time::Duration};

use super::{flood_request, micros};
use crate::{
    BenchSetup, RunReport, SystemUnderTest,
    floor::FloorServer,
    server_process::ServerProcess,
    stream_readers::{FloodDelivery, StreamReaders},
    stub_agent::Flood,
};

/// One kind of flood.
struct FloodCase {
    key: &'static str,
    bytes: usize,
    readers: usize,
    per_second: u64,
    /// The number of lines for our daemon and for the peer, which would take minutes for as many.
    counts: [u64; 2],
}

const CASES: [FloodCase; 4] = [
    FloodCase { key: "sse.200b50", bytes: 200, readers: 50, per_second: 0, counts: [60_000, 10_000] },
    FloodCase { key: "sse.10k1", bytes: 10_000, readers: 1, per_second: 0, counts: [40_000, 8_000] },
    FloodCase { key: "sse.10k50", bytes: 10_000, readers: 50, per_second: 0, counts: [4_000, 400] },
    FloodCase { key: "sse.paced", bytes: 200, readers: 50, per_second: 500, counts: [1_000, 1_000] },
];

/// The divisors of the line counts in a quick run, for our daemon and for the peer. Smaller floods would fit into the
/// buffers of the peer, which would then lose nothing and look better than it is.
const QUICK_PARTS: [u64; 2] = [4, 5];

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    for case in &CASES {
        let mut streams = Vec::new();
        for system in setup.systems() {
            let server = setup.start(system)?;
            server.start_instance(case.key)?;
            let path = format!("/v1/acp/{}", case.key);
            let readers = StreamReaders::open(server.address(), &path, "", case.readers)?;
            streams.push(MeasuredStream { system, server, readers });
        }
        let rounds = if case.per_second > 0 { setup.full_or_quick(3, 1) } else { setup.full_or_quick(5, 2) };
        for round in 0..rounds {
            for stream in &mut streams {
                measure_server(setup, report, case, round, stream)?;
            }
            if case.per_second == 0 {
                measure_floor(setup, report, case)?;
            }
        }
    }
    Ok(())
}

/// A server and the readers of its stream.
struct MeasuredStream {
    system: SystemUnderTest,
    server: ServerProcess,
    readers: StreamReaders,
}

/// Runs one flood through a server. Each round has line numbers of its own, so that late lines of the last one do not
/// count.
fn measure_server(
    setup: &BenchSetup,
    report: &mut RunReport,
    case: &FloodCase,
    round: u64,
    stream: &mut MeasuredStream,
) -> io::Result<()> {
    let MeasuredStream { system, server, readers } = stream;
    let count = case.count(setup, *system);
    let flood = Flood { from: round * count, count, bytes: case.bytes, per_second: case.per_second };
    let mut connection = server.connect()?;
    let before = server.cpu();
    let delivery = readers.count_lines(&flood, || connection.send(&flood_request(case.key, &flood)))?;
    let cpu = server.cpu() - before;
    report_delivery(report, case, system.name(), count, &delivery, cpu);
    // The response follows when the agent has written all lines. Wait for it, so that this flood cannot overlap with
    // the next.
    let _ = connection.read_response();
    Ok(())
}

/// Runs the same flood through the floor `fanout`. It is a new process for each round, so all of its CPU time counts.
fn measure_floor(setup: &BenchSetup, report: &mut RunReport, case: &FloodCase) -> io::Result<()> {
    let count = case.count(setup, SystemUnderTest::Ours);
    let stub = setup.stub.to_string_lossy();
    let (readers, lines, bytes) = (case.readers.to_string(), count.to_string(), case.bytes.to_string());
    let mut server = FloorServer::start(&setup.own, ["fanout", &stub, &readers, &lines, &bytes])?;
    let open = |_| TcpStream::connect(server.address());
    let streams: Vec<TcpStream> = (0..case.readers).map(open).collect::<io::Result<_>>()?;
    let last = streams.last().map(TcpStream::try_clone).transpose()?;
    let flood = Flood { from: 0, count, bytes: case.bytes, per_second: 0 };
    let mut readers = StreamReaders::from_sockets(streams)?;
    let start = || last.map_or(Ok(()), |mut last| io::Write::write_all(&mut last, b"."));
    let delivery = readers.count_lines(&flood, start)?;
    report_delivery(report, case, "fanout", count, &delivery, server.cpu());
    drop(readers);
    server.finish()
}

fn report_delivery(
    report: &mut RunReport,
    case: &FloodCase,
    system: &str,
    count: u64,
    delivery: &FloodDelivery,
    cpu: Duration,
) {
    let key = |figure: &str| format!("{}.{figure}", case.key);
    let seconds = delivery.elapsed.as_secs_f64();
    let expected = (count * case.readers as u64) as f64;
    report.add(key("rate"), system, count as f64 / seconds);
    report.add(key("mbps"), system, delivery.received as f64 * case.bytes as f64 / seconds / 1e6);
    report.add(key("loss"), system, delivery.lost as f64 / expected * 100.0);
    report.add(key("disorder"), system, delivery.disordered as f64);
    report.add(key("cpu"), system, micros(cpu) / delivery.received.max(1) as f64);
}

impl FloodCase {
    fn count(&self, setup: &BenchSetup, system: SystemUnderTest) -> u64 {
        let which = usize::from(system == SystemUnderTest::Peer);
        let count = self.counts[which];
        setup.full_or_quick(count, count / QUICK_PARTS[which])
    }
}
