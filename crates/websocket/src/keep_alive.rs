use std::time::Duration;

/// How a lost peer is detected.
#[derive(Debug, Clone, Copy)]
pub struct KeepAlive {
    /// How often the peer is pinged.
    pub ping_interval: Duration,
    /// A peer is lost if it sends nothing (a pong counts) or accepts nothing for this long. It must be longer than the
    /// ping interval, or every quiet peer is.
    pub idle_timeout: Duration,
}

impl Default for KeepAlive {
    /// Common proxies close connections that are quiet for 30 s or more. Two pings may be lost before the peer is.
    fn default() -> Self {
        Self { ping_interval: Duration::from_secs(15), idle_timeout: Duration::from_secs(45) }
    }
}
