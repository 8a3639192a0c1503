//! A permission: the time from just before the client sends its answer until the agent has read it.

use std::{io, time::Duration};

use super::millis;
use crate::{
    Lab, Report, Subject, clock, http,
    session::{ASKED, DELTA, Session},
    stamp::Stamp,
    stub::Asking,
};

/// The pause before each answer. The server may still be storing the request when the client receives it; a person
/// does not answer that fast, so the answer must not queue behind that work.
const PONDER: Duration = Duration::from_millis(5);

const ANSWER: &str = r#"{"reply":"once"}"#;

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let server = lab.start(Subject::Ours)?;
    let session = Session::open(&server, "asked")?;
    let mut followed = session.follow(0)?;
    let mut connection = server.connect()?;
    let asks = lab.size(1_000, 200);
    session.say(&mut connection, &Asking::prompt(asks))?;
    let mut times = Vec::new();
    for _ in 0..asks {
        let asked: serde_json::Value = serde_json::from_slice(&followed.until(ASKED)?)?;
        let id = asked["event"]["permissionAsked"]["id"].as_str().unwrap_or_default();
        let request = http::post(&session.path(&format!("/permissions/{id}/reply")), ANSWER);
        clock::pause(PONDER);
        let sent = clock::now();
        let answer = connection.ask(&request)?;
        if answer.status != 204 {
            return Err(io::Error::other(format!("an answer was refused with {}", answer.status)));
        }
        let heard = Stamp::of(&followed.until(DELTA)?).ok_or(io::ErrorKind::InvalidData)?;
        times.push(heard.at.saturating_sub(sent));
    }
    times.sort_unstable();
    report.add("permission.p50", "ours", millis(times[times.len() / 2]));
    report.add("permission.p99", "ours", millis(times[times.len() * 99 / 100]));
    Ok(())
}
