//! The floor `pipe`: requests to the stub agent over its pipes, without a server in between.

use std::{
    io::{self, Read, Write},
    path::Path,
    time::{Duration, Instant},
};

use super::stub_process::StubProcess;
use crate::{closed_loop_load::LoadResult, json_rpc, proc};

/// Sends requests to the stub one after the other for `time`. Returns the latencies and the CPU time of the stub.
pub(crate) fn measure_round_trips(stub: &Path, time: Duration) -> io::Result<(LoadResult, Duration)> {
    let StubProcess { mut child, mut input, mut output } = StubProcess::start(stub)?;
    let request = json_rpc::request(1, "session/prompt", "{}") + "\n";
    let mut response = [0; 4096];
    // Large enough for every request of a run, so that the vector does not grow while the clock runs.
    let mut latencies = Vec::with_capacity(1 << 20);
    let started = Instant::now();
    while started.elapsed() < time {
        let sent_at = Instant::now();
        input.write_all(request.as_bytes())?;
        let mut read = 0;
        while read == 0 || response[read - 1] != b'\n' {
            read += output.read(&mut response[read..])?;
        }
        latencies.push(sent_at.elapsed());
    }
    let result = LoadResult::new(started.elapsed(), latencies);
    let cpu = proc::cpu(child.id());
    drop(input);
    child.wait()?;
    Ok((result, cpu))
}
