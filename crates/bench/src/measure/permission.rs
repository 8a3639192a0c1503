//! A permission: the time from just before the client sends its response until the agent has read it.

use std::{io, time::Duration};

use super::millis;
use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock, http,
    piece_stamp::PieceStamp,
    stub_agent::PermissionTurn,
    stub_session::{MESSAGE_DELTA, PERMISSION_ASKED, StubSession},
};

/// The pause before each response. The server may still be storing the request when the client receives it; a person
/// does not response that fast, so the response must not queue behind that work.
const THINKING_TIME: Duration = Duration::from_millis(5);

const ANSWER: &str = r#"{"reply":"once"}"#;

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let server = setup.start(SystemUnderTest::Ours)?;
    let session = StubSession::open(&server, "asked")?;
    let mut events = session.open_events(0)?;
    let mut connection = server.connect()?;
    let count = setup.full_or_quick(1_000, 200);
    session.send_message(&mut connection, &PermissionTurn::prompt(count))?;
    let mut times = Vec::new();
    for _ in 0..count {
        let asked: serde_json::Value = serde_json::from_slice(&events.wait_for_event(PERMISSION_ASKED)?)?;
        let id = asked["event"]["permissionAsked"]["id"].as_str().unwrap_or_default();
        let request = http::post(&session.path(&format!("/permissions/{id}/reply")), ANSWER);
        clock::pause(THINKING_TIME);
        let sent = clock::now();
        let response = connection.request(&request)?;
        if response.status != 204 {
            return Err(io::Error::other(format!(
                "the server rejected an response with {}",
                response.status
            )));
        }
        let received =
            PieceStamp::find_in(&events.wait_for_event(MESSAGE_DELTA)?).ok_or(io::ErrorKind::InvalidData)?;
        times.push(received.at.saturating_sub(sent));
    }
    times.sort_unstable();
    report.add("permission.p50", "ours", millis(times[times.len() / 2]));
    report.add("permission.p99", "ours", millis(times[times.len() * 99 / 100]));
    Ok(())
}
