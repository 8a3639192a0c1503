//! `/v1/processes`: programs that the user runs in the sandbox.

use std::time::Duration;

use bytes::Bytes;
use protocol::{
    ProcessId,
    processes::{
        ProcessLogPage, ProcessSignal, RunProcessRequest, RunProcessResult, SendSignalRequest,
        StartProcessRequest, TerminalSize, UserProcess, UserProcessList,
    },
};
use reqwest::{Method, header};

use crate::{ApiResponse, Client, ProcessLogStream, Result, TerminalInput, TerminalOutput, client, terminal};

/// The processes of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct ProcessesApi<'a>(pub(crate) &'a Client);

impl ProcessesApi<'_> {
    /// Lists the processes that were started and not deleted.
    pub async fn list(self) -> Result<ApiResponse<UserProcessList>> {
        self.0.call(Method::GET, &["v1", "processes"], &[]).await
    }

    /// Starts a process.
    pub async fn start(self, start: &StartProcessRequest) -> Result<ApiResponse<UserProcess>> {
        self.0.call_with_body(Method::POST, &["v1", "processes"], &[], start).await
    }

    /// Runs a process to its end, and returns its output.
    pub async fn run(self, run: &RunProcessRequest) -> Result<ApiResponse<RunProcessResult>> {
        self.0.call_with_body(Method::POST, &["v1", "processes", "run"], &[], run).await
    }

    /// Asks a process to terminate, and waits at most for `wait` until it has exited.
    pub async fn stop(self, id: ProcessId, wait: Option<Duration>) -> Result<ApiResponse<UserProcess>> {
        self.end(id, "stop", wait).await
    }

    /// Kills a process, and waits at most for `wait` until it has exited.
    pub async fn kill(self, id: ProcessId, wait: Option<Duration>) -> Result<ApiResponse<UserProcess>> {
        self.end(id, "kill", wait).await
    }

    async fn end(self, id: ProcessId, how: &str, wait: Option<Duration>) -> Result<ApiResponse<UserProcess>> {
        let wait = wait.map(|wait| wait.as_millis().to_string());
        let segments = ["v1", "processes", &id.to_string(), how];
        self.0.call(Method::POST, &segments, &[("waitMs", wait.as_deref())]).await
    }

    /// Reads one process.
    pub async fn get(self, id: ProcessId) -> Result<ApiResponse<UserProcess>> {
        self.0.call(Method::GET, &["v1", "processes", &id.to_string()], &[]).await
    }

    /// Stops a process, if it exists, with its descendants, and deletes it.
    pub async fn delete(self, id: ProcessId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["v1", "processes", &id.to_string()], &[]).await
    }

    /// Reads up to `limit` log entries after the entry `after`, or from the oldest retained one.
    pub async fn logs(
        self,
        id: ProcessId,
        after: Option<u64>,
        limit: Option<u32>,
    ) -> Result<ApiResponse<ProcessLogPage>> {
        let after = after.map(|number| number.to_string());
        let limit = limit.map(|limit| limit.to_string());
        let query = [("cursor", after.as_deref()), ("limit", limit.as_deref())];
        self.0.call(Method::GET, &["v1", "processes", &id.to_string(), "logs"], &query).await
    }

    /// Streams the output after the log entry `after`, or from the oldest retained one, until the process exits.
    pub async fn follow(self, id: ProcessId, after: Option<u64>) -> Result<ProcessLogStream> {
        ProcessLogStream::open(self.0.clone(), id, after).await
    }

    /// Writes at most 1 MiB to the input of a process. With `close`, closes the input afterwards.
    pub async fn input(self, id: ProcessId, bytes: impl Into<Bytes>, close: bool) -> Result<ApiResponse<()>> {
        let request = self
            .0
            .request(Method::POST, &["v1", "processes", &id.to_string(), "input"])
            .query(&[("close", close.then_some("true"))])
            .header(header::CONTENT_TYPE, "application/octet-stream");
        client::send_and_collect(request.body(bytes.into())).await
    }

    /// Sends a signal to a process and its group.
    pub async fn signal(self, id: ProcessId, signal: ProcessSignal) -> Result<ApiResponse<()>> {
        let segments = ["v1", "processes", &id.to_string(), "signal"];
        self.0.call_with_body(Method::POST, &segments, &[], &SendSignalRequest { signal }).await
    }

    /// Changes the size of the terminal of a process.
    pub async fn resize(self, id: ProcessId, size: TerminalSize) -> Result<ApiResponse<()>> {
        self.0.call_with_body(Method::POST, &["v1", "processes", &id.to_string(), "resize"], &[], &size).await
    }

    /// Waits until a process exits, but no longer than `limit`. Returns the process, which may still run.
    pub async fn wait(self, id: ProcessId, limit: Option<Duration>) -> Result<ApiResponse<UserProcess>> {
        let limit = limit.map(|limit| limit.as_millis().to_string());
        let segments = ["v1", "processes", &id.to_string(), "wait"];
        self.0.call(Method::POST, &segments, &[("timeoutMs", limit.as_deref())]).await
    }

    /// Opens the terminal of a process: its output after the log entry `after`, and its input.
    pub async fn terminal(
        self,
        id: ProcessId,
        after: Option<u64>,
    ) -> Result<(TerminalOutput, TerminalInput)> {
        let after = after.map(|number| number.to_string());
        let request = self.0.request(Method::GET, &["v1", "processes", &id.to_string(), "terminal"]);
        terminal::open(request.query(&[("after", after)])).await
    }
}
