//! An agent that dies during a request: the time until the client has the error response.
//!
//! The agent's last line carries the time of its death on the clock that all processes share (see `clock`). A second
//! client reads that line from the event stream.

use std::{io, time::Duration};

use super::millis;
use crate::{Lab, Report, Subject, clock, http, http::Connection, readers::Readers, server::message};

/// The longest wait for the response, in a full run and in a quick one. A server may never send one.
const PATIENCES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(2)];

/// The wait for the agent's last line after the error response, because the two take different connections.
const LAST_LINE: Duration = Duration::from_millis(300);

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    for subject in lab.subjects() {
        let rounds = if subject == Subject::Ours { lab.size(7, 3) } else { 1 };
        for _ in 0..rounds {
            one(lab, report, subject)?;
        }
    }
    Ok(())
}

fn one(lab: &Lab, report: &mut Report, subject: Subject) -> io::Result<()> {
    let [full, quick] = PATIENCES;
    let patience = lab.size(full, quick);
    let server = lab.start(subject)?;
    server.instance("dying")?;
    let stream = Readers::open(server.address(), "/v1/acp/dying", "", 1)?;
    let mut connection = Connection::open(server.address())?.patience(patience)?;
    let answer = connection.ask(&http::post("/v1/acp/dying", &message(2, "bench/die", "{}")));
    let answered_at = clock::now();
    let (key, name) = ("death", subject.name());
    let Ok(answer) = answer else {
        report.note(key, name, format!("> {} s", patience.as_secs()));
        return Ok(());
    };
    let said = stream.rest(LAST_LINE)?;
    let mark = b"\"at\":\"";
    let at = memchr::memmem::find(&said, mark).map(|at| &said[at + mark.len()..]);
    let digits = at.and_then(|at| std::str::from_utf8(at.get(..20)?).ok());
    let Some(died_at) = digits.and_then(|digits| digits.parse().ok()).map(Duration::from_nanos) else {
        report.note(key, name, "the last line did not come");
        return Ok(());
    };
    report.add(key, name, millis(answered_at.saturating_sub(died_at)));
    let body = String::from_utf8_lossy(&answer.body);
    let kind =
        body.split_once("\"type\":\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or("untyped");
    report.note(key, name, format!("{} {kind}", answer.status));
    Ok(())
}
