//! How long the hub waits for others.

use std::time::Duration;

use websocket::KeepAlive;

use crate::runtime::ANSWER_MAX;

/// How long a runtime may take to begin a response that needs neither an agent nor a process nor much work on files. The
/// daemon answers these in milliseconds; the time is for one that is swapped out or starts many agents.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the hub waits for others.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long a runtime may take to answer.
    pub answer_max: Duration,
    /// How long a runtime may take to begin the response to a forwarded request that it should answer at once.
    pub response_timeout: Duration,
    /// How long to wait before a runtime is asked again, at first; …
    pub pause_min: Duration,
    /// … and at most.
    pub pause_max: Duration,
    /// How long a worker is followed that nobody watches: whoever comes back soon finds everything.
    pub linger: Duration,
    /// How a lost peer of a WebSocket is detected.
    pub keep_alive: KeepAlive,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            answer_max: ANSWER_MAX,
            response_timeout: RESPONSE_TIMEOUT,
            pause_min: Duration::from_millis(100),
            pause_max: Duration::from_secs(5),
            linger: Duration::from_secs(30),
            keep_alive: KeepAlive::default(),
        }
    }
}
