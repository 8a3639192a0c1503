//! System calls of the server per forwarded request, counted with `strace` where it is installed and may attach.

use std::{
    fs, io,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    BenchSetup, RunReport, clock,
    closed_loop_load::{ClosedLoopLoad, ExpectedResponse},
    proc,
    server_process::ServerProcess,
};

/// The longest time until `strace` is attached.
const ATTACH_MAX: Duration = Duration::from_secs(2);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        report.note("syscalls", "ours", "strace is not installed");
        return Ok(());
    }
    for system in setup.systems() {
        let server = setup.start(system)?;
        server.start_instance("bench")?;
        match count_calls(
            &server,
            setup.full_or_quick(Duration::from_millis(1500), Duration::from_millis(500)),
        ) {
            Ok(calls) => report.add("syscalls", system.name(), calls),
            Err(error) => report.note("syscalls", system.name(), error.to_string()),
        }
    }
    Ok(())
}

fn count_calls(server: &ServerProcess, time: Duration) -> io::Result<f64> {
    let table = server.home().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-p", &server.pid().to_string(), "-o"]).arg(&table);
    let mut strace = strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", server.pid());
    let started = Instant::now();
    while proc::field(&status, "TracerPid:") == 0 {
        if started.elapsed() > ATTACH_MAX || strace.try_wait()?.is_some() {
            let _ = strace.kill();
            strace.wait()?;
            return Err(io::Error::other("strace may not attach"));
        }
        clock::pause(Duration::from_millis(5));
    }
    // `TracerPid` is that of the main thread. `strace` attaches to the other threads one by one after it.
    clock::pause(Duration::from_millis(100));
    let load = ClosedLoopLoad {
        address: server.address(),
        path: "/v1/acp/bench",
        expected: ExpectedResponse::Http,
        connections: 1,
        time,
    };
    let result = load.run();
    if let Some(pid) = i32::try_from(strace.id()).ok().and_then(Pid::from_raw) {
        kill_process(pid, Signal::INT)?;
    }
    strace.wait()?;
    let table = fs::read_to_string(table)?;
    let total = table.lines().rev().find(|line| line.ends_with("total")).unwrap_or_default();
    let calls: f64 = total.split_whitespace().nth(3).and_then(|calls| calls.parse().ok()).unwrap_or(f64::NAN);
    Ok(calls / result?.requests() as f64)
}
