//! The memory of an idle server, and of each idle connection to it.

use std::{io, time::Duration};

use crate::{Lab, Report, Subject, clock, http, http::Connection, readers::Readers, server::Server};

/// The pause before each reading of the memory, in which the server finishes its work and returns memory.
const SETTLE: Duration = Duration::from_millis(300);

/// The use that a client makes of a connection before it leaves it idle.
#[derive(Clone, Copy)]
enum Kind {
    /// It sends nothing.
    Silent,
    /// It sends one request and reads the response.
    KeepAlive,
    /// It opens an event stream.
    Stream,
}

const KINDS: [(&str, Kind); 3] =
    [("silent", Kind::Silent), ("keepalive", Kind::KeepAlive), ("sse", Kind::Stream)];

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let count = lab.size(500, 200);
    for (name, kind) in KINDS {
        for subject in lab.subjects() {
            let each_kib = one(lab, report, subject, kind, count)?;
            report.add(format!("connections.{name}"), subject.name(), each_kib);
        }
    }
    Ok(())
}

/// Returns the memory per connection in KiB, as the growth over `count` connections.
fn one(lab: &Lab, report: &mut Report, subject: Subject, kind: Kind, count: usize) -> io::Result<f64> {
    let server = lab.start(subject)?;
    clock::pause(SETTLE);
    report.add("connections.idle", subject.name(), server.rss_kib() as f64 / 1024.0);
    if matches!(kind, Kind::Stream) {
        server.instance("idle")?;
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
#[expect(dead_code, reason = "held, not looked at")]
enum Open {
    Connections(Vec<Connection>),
    Readers(Readers),
}

fn open(server: &Server, kind: Kind, count: usize) -> io::Result<Open> {
    let health = http::request("GET", "/v1/health", "");
    let connect = |_| {
        let mut connection = server.connect()?;
        if matches!(kind, Kind::KeepAlive) {
            connection.ask(&health)?;
        }
        Ok(connection)
    };
    match kind {
        Kind::Silent | Kind::KeepAlive => {
            (0..count).map(connect).collect::<io::Result<_>>().map(Open::Connections)
        }
        Kind::Stream => Readers::open(server.address(), "/v1/acp/idle", "", count).map(Open::Readers),
    }
}
