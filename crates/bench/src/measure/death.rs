//! An agent that dies during a request: the time until the client has the error response.
//!
//! The agent's last line carries the time of its death on the clock that all processes share (see `clock`). A second
//! client reads that line from the event stream.

use std::{io, time::Duration};

use super::millis;
use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock, http, http::HttpConnection, json_rpc,
    stream_readers::StreamReaders,
};

/// The longest wait for the response, in a full run and in a quick one. A server may never send one.
const TIMEOUTS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(2)];

/// The wait for the agent's last line after the error response, because the two take different connections.
const LAST_LINE: Duration = Duration::from_millis(300);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    for system in setup.systems() {
        let rounds = if system == SystemUnderTest::Ours { setup.full_or_quick(7, 3) } else { 1 };
        for _ in 0..rounds {
            measure_death(setup, report, system)?;
        }
    }
    Ok(())
}

fn measure_death(setup: &BenchSetup, report: &mut RunReport, system: SystemUnderTest) -> io::Result<()> {
    let [full, quick] = TIMEOUTS;
    let timeout = setup.full_or_quick(full, quick);
    let server = setup.start(system)?;
    server.start_instance("dying")?;
    let stream = StreamReaders::open(server.address(), "/v1/acp/dying", "", 1)?;
    let mut connection = HttpConnection::open(server.address())?.with_read_timeout(timeout)?;
    let response = connection.request(&http::post("/v1/acp/dying", &json_rpc::request(2, "bench/die", "{}")));
    let answered_at = clock::now();
    let (key, name) = ("death", system.name());
    let Ok(response) = response else {
        report.note(key, name, format!("> {} s", timeout.as_secs()));
        return Ok(());
    };
    let output = stream.read_until_idle(LAST_LINE)?;
    let mark = b"\"at\":\"";
    let at = memchr::memmem::find(&output, mark).map(|at| &output[at + mark.len()..]);
    let digits = at.and_then(|at| std::str::from_utf8(at.get(..20)?).ok());
    let Some(died_at) = digits.and_then(|digits| digits.parse().ok()).map(Duration::from_nanos) else {
        report.note(key, name, "the last line did not arrive");
        return Ok(());
    };
    report.add(key, name, millis(answered_at.saturating_sub(died_at)));
    let body = String::from_utf8_lossy(&response.body);
    let kind =
        body.split_once("\"type\":\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or("untyped");
    report.note(key, name, format!("{} {kind}", response.status));
    Ok(())
}
