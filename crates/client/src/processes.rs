//! `/v1/processes`: programs that a user runs in the sandbox.

use std::time::Duration;

use bytes::Bytes;
use protocol::{
    ProcessId,
    processes::{
        ProcessLogPage, ProcessSignal, SendSignalRequest, StartProcessRequest, TerminalSize, UserProcess,
        UserProcessList,
    },
};
use reqwest::{Method, header};

use crate::{Answer, Client, Logs, Result, TerminalInput, TerminalOutput, client, terminal};

/// The processes of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Processes<'a>(pub(crate) &'a Client);

impl Processes<'_> {
    /// Every process that was started and not deleted.
    pub async fn list(self) -> Result<Answer<UserProcessList>> {
        self.0.ask(Method::GET, &["v1", "processes"], &[]).await
    }

    /// Starts a process.
    pub async fn start(self, start: &StartProcessRequest) -> Result<Answer<UserProcess>> {
        self.0.tell(Method::POST, &["v1", "processes"], &[], start).await
    }

    /// One process as it is now.
    pub async fn get(self, id: ProcessId) -> Result<Answer<UserProcess>> {
        self.0.ask(Method::GET, &["v1", "processes", &id.to_string()], &[]).await
    }

    /// Ends a process and everyone it started, and forgets it; it need not be there.
    pub async fn delete(self, id: ProcessId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["v1", "processes", &id.to_string()], &[]).await
    }

    /// Up to `limit` pieces of what it wrote, after the piece `after` or from the oldest that is kept.
    pub async fn logs(
        self,
        id: ProcessId,
        after: Option<u64>,
        limit: Option<u32>,
    ) -> Result<Answer<ProcessLogPage>> {
        let (after, limit) = (after.map(|number| number.to_string()), limit.map(|limit| limit.to_string()));
        let query = [("cursor", after.as_deref()), ("limit", limit.as_deref())];
        self.0.ask(Method::GET, &["v1", "processes", &id.to_string(), "logs"], &query).await
    }

    /// What it writes, after the piece `after` or from the oldest that is kept, to its end.
    pub async fn follow(self, id: ProcessId, after: Option<u64>) -> Result<Logs> {
        Logs::open(self.0.clone(), id, after).await
    }

    /// Writes at most 1 MiB to its input, and with `close` closes it afterwards.
    pub async fn input(self, id: ProcessId, bytes: impl Into<Bytes>, close: bool) -> Result<Answer<()>> {
        let request = self
            .0
            .request(Method::POST, &["v1", "processes", &id.to_string(), "input"])
            .query(&[("close", close.then_some("true"))])
            .header(header::CONTENT_TYPE, "application/octet-stream");
        client::answer(request.body(bytes.into())).await
    }

    /// Signals it and its group.
    pub async fn signal(self, id: ProcessId, signal: ProcessSignal) -> Result<Answer<()>> {
        let segments = ["v1", "processes", &id.to_string(), "signal"];
        self.0.tell(Method::POST, &segments, &[], &SendSignalRequest { signal }).await
    }

    /// Changes the size of its terminal.
    pub async fn resize(self, id: ProcessId, size: TerminalSize) -> Result<Answer<()>> {
        self.0.tell(Method::POST, &["v1", "processes", &id.to_string(), "resize"], &[], &size).await
    }

    /// Waits for its end, but no longer than `limit`: the process as it is then, which may still run.
    pub async fn wait(self, id: ProcessId, limit: Option<Duration>) -> Result<Answer<UserProcess>> {
        let limit = limit.map(|limit| limit.as_millis().to_string());
        let segments = ["v1", "processes", &id.to_string(), "wait"];
        self.0.ask(Method::POST, &segments, &[("timeoutMs", limit.as_deref())]).await
    }

    /// Both directions of its terminal: what it shows after the piece `after`, and what is typed.
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
