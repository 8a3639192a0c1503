//! The limits of a connection.

use std::time::Duration;

use tokio::sync::Semaphore;

/// The limits of a connection.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest message, in each direction.
    pub frame_bytes_max: usize,
    /// The number of concurrent requests of the peer.
    pub requests_max: usize,
    /// The number of them that may belong to one family, so that long-running commands leave room for others.
    pub family_requests_max: usize,
    /// The number of concurrent requests of this side. Those that were given up count until the peer responds. A peer that does not
    /// respond to them within three times `cancel_wait_max` is considered gone.
    pub calls_max: usize,
    /// The bytes of one request's stream that may wait until the caller reads them.
    pub window_bytes: u32,
    /// The bytes of one request's stream that may be queued for sending.
    pub unsent_bytes_max: u32,
    /// The timeout of a request that sets none.
    pub timeout: Duration,
    /// How long the handshake may take.
    pub hello_wait_max: Duration,
    /// How long a cancelled request may take to end before it is dropped.
    pub cancel_wait_max: Duration,
    /// The interval of heartbeats.
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
            // Longer than the time between the TERM and the KILL of a process group.
            cancel_wait_max: Duration::from_secs(10),
            heartbeat: Duration::from_secs(15),
        }
    }
}

/// The number of heartbeats that may be unanswered.
pub(crate) const MISSED_MAX: usize = 3;

/// The number of messages that may wait for the driver: requests, events, stream chunks and outcomes.
pub(crate) const INBOX_MAX: usize = 64;

/// The number of queued whole frames at which the driver accepts no more from this side.
pub(crate) const UNSENT_FRAMES_MAX: usize = 512;

/// The number of queued whole frames at which the driver stops reading from the peer, which then causes more than it reads.
pub(crate) const UNHEARD_FRAMES_MAX: usize = 2 * UNSENT_FRAMES_MAX;

/// The same in bytes: a few of the largest messages. Senders that wait for the driver are bounded by the number of requests.
pub(crate) const UNSENT_BYTES_MAX: usize = 4 << 20;
pub(crate) const UNHEARD_BYTES_MAX: usize = 2 * UNSENT_BYTES_MAX;

/// The number of frames of no stream that may be sent in a row while a stream waits.
pub(crate) const OVERTAKING_MAX: usize = 8;

/// The number of frames that are sent before other events are handled.
pub(crate) const SENT_AT_ONCE_MAX: usize = 32;

/// The number of messages in flight on an in-process connection.
pub(crate) const PIPE_MESSAGES_MAX: usize = 4;

/// The window to which a larger one of the peer is limited: half of the semaphore's range, because unused permits are added back on
/// top. It is far more than any sender needs.
pub(crate) const WINDOW_BYTES_MAX: usize = Semaphore::MAX_PERMITS / 2;

/// The time that the peer may take to respond to a cancellation, in multiples of `cancel_wait_max`.
pub(crate) const CANCEL_WAITS_MAX: u32 = 3;

/// The size of the reason in a close frame: that of a WebSocket control frame without the code.
pub(crate) const REASON_BYTES_MAX: usize = 123;

/// The size of the shortest stream message: `{"type":"stream","id":"","event":"","data":0}`.
pub(crate) const STREAM_BYTES_MIN: usize = 45;
