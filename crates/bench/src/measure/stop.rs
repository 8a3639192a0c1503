//! Stopping an agent whose child process ignores SIGTERM: the time that it takes, and the processes that remain.

use std::{io, time::Duration};

use rustix::process::Signal;

use super::millis;
use crate::{
    BenchSetup, RunReport, SystemUnderTest, clock, http, json_rpc, proc, server_process::ServerProcess,
};

/// The longest wait for the end, in a full run and in a quick one.
const TIMEOUTS: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(3)];

/// After SIGKILL the server cannot clean up. The kernel kills processes that are set to die with their parent; this
/// is the time that it gets for it.
const KILL_SETTLE: Duration = Duration::from_millis(300);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let [full, quick] = TIMEOUTS;
    let timeout = setup.full_or_quick(full, quick);
    for system in setup.systems() {
        let server = setup.start(system)?;
        let family = AgentProcesses::start(&server)?;
        let started = clock::now();
        let request = http::request("DELETE", "/v1/acp/stubborn", "");
        match http::request_once(server.address(), &request, timeout) {
            Ok(response) => {
                report.add("stop.delete", system.name(), millis(clock::now() - started));
                report.note("stop.delete", system.name(), response.status.to_string());
            }
            Err(_) => report.note("stop.delete", system.name(), format!("> {} s", timeout.as_secs())),
        }
        report.add("stop.delete.left", system.name(), family.left() as f64);
    }
    let signals = [("stop.term", Signal::TERM), ("stop.int", Signal::INT), ("stop.kill", Signal::KILL)];
    // No performance bar depends on the peer's reaction to a signal, so a quick run leaves it out.
    let systems = setup.full_or_quick(setup.systems(), vec![SystemUnderTest::Ours]);
    for (key, signal) in signals {
        for &system in &systems {
            let mut server = setup.start(system)?;
            let family = AgentProcesses::start(&server)?;
            match server.signal_and_wait(signal, timeout) {
                Some(time) => report.add(key, system.name(), millis(time)),
                None => report.note(key, system.name(), format!("> {} s", timeout.as_secs())),
            }
            if signal == Signal::KILL {
                clock::pause(KILL_SETTLE);
                let left = |pid| f64::from(u8::from(proc::is_alive(pid)));
                report.add("stop.kill.agent", system.name(), left(family.agent));
                report.add("stop.kill.grandchild", system.name(), left(family.grandchild));
            } else {
                report.add(format!("{key}.left"), system.name(), family.left() as f64);
            }
        }
    }
    Ok(())
}

/// An agent process and its child. Dropping this kills the ones that are still alive.
struct AgentProcesses {
    agent: u32,
    grandchild: u32,
}

impl AgentProcesses {
    fn start(server: &ServerProcess) -> io::Result<Self> {
        server.start_instance("stubborn")?;
        let response = server
            .request(&http::post("/v1/acp/stubborn", &json_rpc::request(2, "bench/grandchild", "{}")))?;
        let response: serde_json::Value = serde_json::from_slice(&response.body).map_err(io::Error::other)?;
        let pid = |name: &str| response["result"][name].as_u64().unwrap_or_default() as u32;
        Ok(Self { agent: pid("agent"), grandchild: pid("grandchild") })
    }

    /// Returns the number of processes that are still alive.
    fn left(&self) -> usize {
        [self.agent, self.grandchild].into_iter().filter(|pid| proc::is_alive(*pid)).count()
    }
}

impl Drop for AgentProcesses {
    fn drop(&mut self) {
        for pid in [self.agent, self.grandchild] {
            if pid > 1 && proc::is_alive(pid) {
                proc::kill(pid);
            }
        }
    }
}
