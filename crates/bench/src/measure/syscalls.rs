//! System calls of the server per forwarded request, counted with `strace` where it is installed and may attach.

use std::{
    fs, io,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    Lab, Report, clock,
    load::{Load, Reply},
    proc,
    server::Server,
};

/// The longest time until `strace` is attached.
const ATTACH_MAX: Duration = Duration::from_secs(2);

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        report.note("syscalls", "ours", "there is no strace here");
        return Ok(());
    }
    for subject in lab.subjects() {
        let server = lab.start(subject)?;
        server.instance("bench")?;
        match one(&server, lab.size(Duration::from_millis(1500), Duration::from_millis(500))) {
            Ok(calls) => report.add("syscalls", subject.name(), calls),
            Err(error) => report.note("syscalls", subject.name(), error.to_string()),
        }
    }
    Ok(())
}

fn one(server: &Server, time: Duration) -> io::Result<f64> {
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
    let load =
        Load { address: server.address(), path: "/v1/acp/bench", reply: Reply::Http, connections: 1, time };
    let outcome = load.run();
    if let Some(pid) = i32::try_from(strace.id()).ok().and_then(Pid::from_raw) {
        kill_process(pid, Signal::INT)?;
    }
    strace.wait()?;
    let table = fs::read_to_string(table)?;
    let total = table.lines().rev().find(|line| line.ends_with("total")).unwrap_or_default();
    let calls: f64 = total.split_whitespace().nth(3).and_then(|calls| calls.parse().ok()).unwrap_or(f64::NAN);
    Ok(calls / outcome?.requests() as f64)
}
