//! The memory of an idle server, and of each idle connection to it.

use std::{io, time::Duration};

use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock, http, http::HttpConnection, server_process::ServerProcess,
    stream_readers::StreamReaders,
};

/// The pause before each reading of the memory, in which the server finishes its work and returns memory.
const SETTLE: Duration = Duration::from_millis(300);

/// The use that a client makes of a connection before it leaves it idle.
#[derive(Clone, Copy)]
enum ConnectionUse {
    /// It sends nothing.
    Silent,
    /// It sends one request and reads the response.
    KeepAlive,
    /// It opens an event stream.
    Stream,
}

const CONNECTION_USES: [(&str, ConnectionUse); 3] = [
    ("silent", ConnectionUse::Silent),
    ("keepalive", ConnectionUse::KeepAlive),
    ("sse", ConnectionUse::Stream),
];

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let count = setup.full_or_quick(500, 200);
    for (name, kind) in CONNECTION_USES {
        for system in setup.systems() {
            let each_kib = measure_use(setup, report, system, kind, count)?;
            report.add(format!("connections.{name}"), system.name(), each_kib);
        }
    }
    Ok(())
}

/// Returns the memory per connection in KiB, as the growth over `count` connections.
fn measure_use(
    setup: &BenchSetup,
    report: &mut RunReport,
    system: SystemUnderTest,
    kind: ConnectionUse,
    count: usize,
) -> io::Result<f64> {
    let server = setup.start(system)?;
    clock::pause(SETTLE);
    report.add("connections.idle", system.name(), server.rss_kib() as f64 / 1024.0);
    if matches!(kind, ConnectionUse::Stream) {
        server.start_instance("idle")?;
    }
    // The first connections of a kind load code pages and allocate shared state, which is not a cost per connection.
    drop(open(&server, kind, 2)?);
    clock::pause(SETTLE);
    let before = server.rss_kib();
    let connections = open(&server, kind, count)?;
    clock::pause(SETTLE);
    let after = server.rss_kib();
    drop(connections);
    Ok(after.saturating_sub(before) as f64 / count as f64)
}

/// Holds connections open until it is dropped.
#[expect(dead_code, reason = "the connections are only held open")]
enum OpenConnections {
    Connections(Vec<HttpConnection>),
    Streams(StreamReaders),
}

fn open(server: &ServerProcess, kind: ConnectionUse, count: usize) -> io::Result<OpenConnections> {
    let health = http::request("GET", "/v1/health", "");
    let connect = |_| {
        let mut connection = server.connect()?;
        if matches!(kind, ConnectionUse::KeepAlive) {
            connection.request(&health)?;
        }
        Ok(connection)
    };
    match kind {
        ConnectionUse::Silent | ConnectionUse::KeepAlive => {
            (0..count).map(connect).collect::<io::Result<_>>().map(OpenConnections::Connections)
        }
        ConnectionUse::Stream => {
            StreamReaders::open(server.address(), "/v1/acp/idle", "", count).map(OpenConnections::Streams)
        }
    }
}
