//! Stopping an agent whose child process ignores SIGTERM: the time that it takes, and the processes that remain.

use std::{io, time::Duration};

use rustix::process::Signal;

use super::millis;
use crate::{
    Lab, Report, Subject, clock, http, proc,
    server::{Server, message},
};

/// The longest wait for the end, in a full run and in a quick one.
const PATIENCES: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(3)];

/// After SIGKILL the server cannot clean up. The kernel kills processes that are set to die with their parent; this
/// is the time that it gets for it.
const KILL_SETTLE: Duration = Duration::from_millis(300);

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let [full, quick] = PATIENCES;
    let patience = lab.size(full, quick);
    for subject in lab.subjects() {
        let server = lab.start(subject)?;
        let family = Family::start(&server)?;
        let started = clock::now();
        let request = http::request("DELETE", "/v1/acp/stubborn", "");
        match http::once(server.address(), &request, patience) {
            Ok(answer) => {
                report.add("stop.delete", subject.name(), millis(clock::now() - started));
                report.note("stop.delete", subject.name(), answer.status.to_string());
            }
            Err(_) => report.note("stop.delete", subject.name(), format!("> {} s", patience.as_secs())),
        }
        report.add("stop.delete.left", subject.name(), family.left() as f64);
    }
    let signals = [("stop.term", Signal::TERM), ("stop.int", Signal::INT), ("stop.kill", Signal::KILL)];
    // No performance bar depends on the peer's reaction to a signal, so a quick run leaves it out.
    let subjects = lab.size(lab.subjects(), vec![Subject::Ours]);
    for (key, signal) in signals {
        for &subject in &subjects {
            let mut server = lab.start(subject)?;
            let family = Family::start(&server)?;
            match server.signal(signal, patience) {
                Some(time) => report.add(key, subject.name(), millis(time)),
                None => report.note(key, subject.name(), format!("> {} s", patience.as_secs())),
            }
            if signal == Signal::KILL {
                clock::pause(KILL_SETTLE);
                let left = |pid| f64::from(u8::from(proc::is_alive(pid)));
                report.add("stop.kill.agent", subject.name(), left(family.agent));
                report.add("stop.kill.grandchild", subject.name(), left(family.grandchild));
            } else {
                report.add(format!("{key}.left"), subject.name(), family.left() as f64);
            }
        }
    }
    Ok(())
}

/// An agent process and its child. Dropping this kills the ones that are still alive.
struct Family {
    agent: u32,
    grandchild: u32,
}

impl Family {
    fn start(server: &Server) -> io::Result<Self> {
        server.instance("stubborn")?;
        let answer = server.ask(&http::post("/v1/acp/stubborn", &message(2, "bench/grandchild", "{}")))?;
        let answer: serde_json::Value = serde_json::from_slice(&answer.body).map_err(io::Error::other)?;
        let pid = |name: &str| answer["result"][name].as_u64().unwrap_or_default() as u32;
        Ok(Self { agent: pid("agent"), grandchild: pid("grandchild") })
    }

    /// Returns the number of processes that are still alive.
    fn left(&self) -> usize {
        [self.agent, self.grandchild].into_iter().filter(|pid| proc::is_alive(*pid)).count()
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        for pid in [self.agent, self.grandchild] {
            if pid > 1 && proc::is_alive(pid) {
                proc::kill(pid);
            }
        }
    }
}
