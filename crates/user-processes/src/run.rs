//! Runs a process to its end and collects its output.

use std::time::{Duration, Instant};

use protocol::{
    ProcessId,
    processes::{OutputStream, ProcessExit, RunProcessResult, StartProcessRequest},
};

use crate::{Error, LogItem, OutputPiece, ProcessEvent, UserProcesses};

/// The largest and default size of each output stream in a result. As JSON it may take six times as much.
pub const RUN_OUTPUT_BYTES_MAX: usize = 1 << 20;

/// The result of [`UserProcesses::run`] so far.
#[derive(Default)]
struct CollectedOutput {
    stdout: CollectedStream,
    stderr: CollectedStream,
}

/// The beginning of one output stream.
#[derive(Default)]
struct CollectedStream {
    bytes: Vec<u8>,
    is_truncated: bool,
}

/// Deletes the process of a run, also if the client leaves before its end.
struct DeleteOnDrop {
    processes: UserProcesses,
    id: ProcessId,
}

impl Drop for DeleteOnDrop {
    fn drop(&mut self) {
        let (processes, id) = (self.processes.clone(), self.id);
        // There is always a runtime: the run is one of its tasks.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { processes.delete(id).await });
        }
    }
}

impl UserProcesses {
    /// Runs a process without input until it exits, at most for `timeout`, and returns the beginning of its output: at most
    /// `output_max` bytes of each stream. The process is deleted afterwards, and killed if it still runs.
    ///
    /// # Errors
    /// As [`UserProcesses::start`].
    pub async fn run(
        &self,
        start: StartProcessRequest,
        timeout: Duration,
        output_max: usize,
    ) -> Result<RunProcessResult, Error> {
        let started = Instant::now();
        let id = self.start(start).await?.id;
        let _deletion = DeleteOnDrop { processes: self.clone(), id };
        // A process that has exited already has no input to close.
        let _ = self.close_input(id);
        let mut collected = CollectedOutput::default();
        let exit = tokio::time::timeout(timeout, self.collect(id, output_max, &mut collected)).await;
        let is_timed_out = exit.is_err();
        let exit = exit.unwrap_or(Ok(None))?;
        let CollectedOutput { stdout, stderr } = collected;
        Ok(RunProcessResult {
            exit_code: exit.and_then(|exit| exit.code),
            signal: exit.and_then(|exit| exit.signal),
            timed_out: is_timed_out,
            stdout_truncated: stdout.is_truncated,
            stderr_truncated: stderr.is_truncated,
            stdout: String::from_utf8_lossy(&stdout.bytes).into_owned(),
            stderr: String::from_utf8_lossy(&stderr.bytes).into_owned(),
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Collects output until the exit.
    async fn collect(
        &self,
        id: ProcessId,
        output_max: usize,
        collected: &mut CollectedOutput,
    ) -> Result<Option<ProcessExit>, Error> {
        let mut log = self.follow(id, None)?;
        while let Some(item) = log.next().await {
            match item {
                LogItem::Event(_, ProcessEvent::Output(piece)) => collected.add(&piece, output_max),
                LogItem::Event(_, ProcessEvent::Exited(exit)) => return Ok(Some(exit)),
                LogItem::Gap(_) => {
                    // The process wrote faster than we read. It is not known to which stream.
                    collected.stdout.is_truncated = true;
                    collected.stderr.is_truncated = true;
                }
            }
        }
        Ok(None)
    }
}

impl CollectedOutput {
    fn add(&mut self, piece: &OutputPiece, output_max: usize) {
        let stream = match piece.stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        };
        let bytes = piece.bytes();
        let room = output_max.saturating_sub(stream.bytes.len()).min(bytes.len());
        // Once something is missing, nothing that comes later is appended.
        if !stream.is_truncated {
            stream.bytes.extend_from_slice(&bytes[..room]);
        }
        stream.is_truncated |= room < bytes.len();
    }
}
