//! A permission that a person gives: from the answer's way into the server to the line that the agent reads.

use std::{io, time::Duration};

use super::millis;
use crate::{
    Lab, Report, Subject, clock, http,
    session::{ASKED, DELTA, Session},
    stamp::Stamp,
    stub::Asking,
};

/// People take their time: what the server does after it has asked is not to be in the way of the answer.
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
