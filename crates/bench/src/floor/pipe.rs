//! The floor `pipe`: requests to the stub agent over its pipes, without a server in between.

use std::{
    io::{self, Read, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    load::Outcome,
    proc,
    server::{message, tie},
};

/// Sends requests to the stub one after the other for `time`. Returns the latencies and the CPU time of the stub.
pub(crate) fn round_trips(stub: &Path, time: Duration) -> io::Result<(Outcome, Duration)> {
    let mut command = Command::new(stub);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    tie(&mut command);
    let mut child = command.spawn()?;
    let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let question = message(1, "session/prompt", "{}") + "\n";
    let mut answer = [0; 4096];
    // Large enough for every request of a run, so that the vector does not grow while the clock runs.
    let mut latencies = Vec::with_capacity(1 << 20);
    let started = Instant::now();
    while started.elapsed() < time {
        let sent_at = Instant::now();
        input.write_all(question.as_bytes())?;
        let mut read = 0;
        while read == 0 || answer[read - 1] != b'\n' {
            read += output.read(&mut answer[read..])?;
        }
        latencies.push(sent_at.elapsed());
    }
    let outcome = Outcome::new(started.elapsed(), latencies);
    let cpu = proc::cpu(child.id());
    drop(input);
    child.wait()?;
    Ok((outcome, cpu))
}
