//! How much of everything there may be.

use std::time::Duration;

use tokio::sync::Semaphore;

/// How much of everything there may be on one connection.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest message, in each direction.
    pub frame_bytes_max: usize,
    /// How many requests of the other side are answered at a time.
    pub requests_max: usize,
    /// How many of them may be of one family: commands that run for long leave room for others.
    pub family_requests_max: usize,
    /// How many requests of this side go on at a time; those that were given up count until they are answered. Who does not
    /// answer them in three times `cancel_wait_max` is not there.
    pub calls_max: usize,
    /// How much of the stream of one request may wait here until somebody reads it.
    pub window_bytes: u32,
    /// How much of the stream of one request may wait here until it is sent.
    pub unsent_bytes_max: u32,
    /// How long a request may take that says nothing else.
    pub timeout: Duration,
    /// How long a device may take to say who it is, and to be accepted.
    pub hello_wait_max: Duration,
    /// How long a request that was cancelled may take to end before it is dropped.
    pub cancel_wait_max: Duration,
    /// How often the other side is asked whether it is there.
    pub heartbeat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes_max: 1 << 20,
            requests_max: 64,
            family_requests_max: 48,
            calls_max: 64,
            window_bytes: 256 << 10,
            unsent_bytes_max: 64 << 10,
            timeout: Duration::from_secs(60),
            hello_wait_max: Duration::from_secs(10),
            // Longer than a process group takes from TERM to KILL.
            cancel_wait_max: Duration::from_secs(10),
            heartbeat: Duration::from_secs(15),
        }
    }
}

/// How many heartbeats may stay unanswered.
pub(crate) const MISSED_MAX: usize = 3;

/// What waits for the one who drives the connection: each is a request, an event, a part of a stream or an outcome.
pub(crate) const INBOX_MAX: usize = 64;

/// How many whole frames may wait to be sent before nothing more is taken from this side, …
pub(crate) const UNSENT_FRAMES_MAX: usize = 512;

/// … and before nothing more is heard from the other, which has more to be told than it reads.
pub(crate) const UNHEARD_FRAMES_MAX: usize = 2 * UNSENT_FRAMES_MAX;

/// The same in bytes: some of the largest messages. What waits at the door is bounded by how many requests go on.
pub(crate) const UNSENT_BYTES_MAX: usize = 4 << 20;
pub(crate) const UNHEARD_BYTES_MAX: usize = 2 * UNSENT_BYTES_MAX;

/// How many frames of no stream may be sent in a row while a stream waits.
pub(crate) const OVERTAKING_MAX: usize = 8;

/// How many frames are sent before somebody else has a turn.
pub(crate) const SENT_AT_ONCE_MAX: usize = 32;

/// How many messages are on their way in an in-process connection.
pub(crate) const PIPE_MESSAGES_MAX: usize = 4;

/// The largest window of the other side that is counted: half of what can be, as what was taken and not used is given back
/// on top. Nobody sends so much that it would have to be granted more.
pub(crate) const WINDOW_BYTES_MAX: usize = Semaphore::MAX_PERMITS / 2;

/// How many times as long as it may work on what was cancelled the other side may take to answer it. Then it never will.
pub(crate) const CANCEL_WAITS_MAX: u32 = 3;

/// The reason in a close frame: what a control frame of a WebSocket holds, without the code.
pub(crate) const REASON_BYTES_MAX: usize = 123;

/// No stream message is shorter: `{"type":"stream","id":"","event":"","data":0}`.
pub(crate) const STREAM_BYTES_MIN: usize = 45;
