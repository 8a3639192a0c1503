//! How long a runtime may take to begin the response to a forwarded request.
//!
//! Only the wait for the head of the response is limited: streams, downloads and WebSockets begin at once and then last as
//! long as they like. The time counts from the last chunk of the request body that the runtime took.

use std::time::Duration;

use axum::extract::Query;
use http::{Method, Uri};
use serde::Deserialize;

/// How long a daemon works on a tree of files, or writes a large file to disk, before it responds.
const FILE_WORK: Duration = Duration::from_secs(10 * 60);

/// How long a daemon takes to start an agent and to ask it for its models: its own limits are 120 s and 60 s.
const AGENT_START: Duration = Duration::from_secs(5 * 60);

/// How long a daemon takes to install an agent: it gives a package manager 15 minutes, and there may be several packages.
const INSTALLATION: Duration = Duration::from_secs(60 * 60);

/// How long a daemon lets a request wait that names no time (`--timeout-max`).
const DEFAULT_WAIT: Duration = Duration::from_secs(10 * 60);

/// The longest time that a client may choose with `timeoutMs`. Daemons refuse more than their own limit, of ten minutes
/// unless their operator chose another.
const CHOSEN_WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The limits of a forwarded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResponseLimit {
    /// How long the runtime may take to begin its response, once it could.
    pub(super) response: Duration,
    /// How long the client may send nothing of its body.
    pub(super) stall: Duration,
}

impl ResponseLimit {
    /// The limits for a route of a daemon; `usual` is for responses that need no agent and no work.
    pub(crate) fn for_request(
        (method, pieces, uri): (&Method, &[String], &Uri),
        (usual, stall): (Duration, Duration),
    ) -> Self {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let is_read = method.is_safe();
        let response = match pieces[..] {
            ["acp", _] | ["processes", "run"] | ["processes", _, "wait" | "stop" | "kill"]
                if method == Method::POST =>
            {
                usual + chosen_wait(uri)
            }
            ["agents", _, "install"] | ["sessions", _] if method == Method::POST => INSTALLATION,
            ["agents", ..] => AGENT_START,
            // These wait until an agent or a process has ended, with the grace that the daemon gives it, …
            ["acp" | "sessions" | "processes", ..] if method == Method::DELETE => AGENT_START,
            ["sessions", _, "cancel"] => AGENT_START,
            // … and these until the repository of a skill has been fetched.
            ["config", "skills"] => AGENT_START,
            ["fs", ..] if !is_read => FILE_WORK,
            _ => usual,
        };
        Self { response, stall }
    }
}

#[derive(Deserialize)]
struct ChosenWait {
    #[serde(rename = "timeoutMs", alias = "waitMs")]
    timeout_ms: Option<u64>,
}

/// How long the client lets the daemon wait for an agent or a process.
fn chosen_wait(uri: &Uri) -> Duration {
    let chosen = Query::<ChosenWait>::try_from_uri(uri);
    // The daemon refuses a query that cannot be read.
    let chosen = chosen.ok().and_then(|chosen| chosen.timeout_ms).map(Duration::from_millis);
    chosen.unwrap_or(DEFAULT_WAIT).min(CHOSEN_WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &Method, path: &str, expected: Duration) {
        let uri: Uri = format!("/v1/{path}").parse().unwrap();
        let pieces: Vec<_> = uri.path().split('/').skip(2).map(str::to_owned).collect();
        let usual = Duration::from_secs(30);
        let limit = ResponseLimit::for_request((method, &pieces, &uri), (usual, usual));
        assert_eq!(limit.response, expected, "{method} {path}");
    }

    #[test]
    fn each_kind_of_request_has_a_limit() {
        let secs = Duration::from_secs;
        check(&Method::GET, "sessions/s/events/sse", secs(30));
        check(&Method::GET, "acp/a", secs(30));
        check(&Method::GET, "fs/file", secs(30));
        check(&Method::POST, "acp/a?agent=mock", secs(630));
        check(&Method::POST, "acp/a?timeoutMs=5000&agent=mock", secs(35));
        check(&Method::POST, "processes/p/wait?timeoutMs=99999999999999", secs(24 * 3600 + 30));
        check(&Method::POST, "processes/p/stop?waitMs=5000", secs(35));
        check(&Method::POST, "processes/run", secs(630));
        check(&Method::POST, "sessions/s", secs(3600));
        check(&Method::POST, "sessions/s/messages", secs(30));
        check(&Method::DELETE, "sessions/s", secs(300));
        check(&Method::GET, "agents/claude/models", secs(300));
        check(&Method::PUT, "fs/file", secs(600));
    }
}
