/// One event as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseFrame {
    /// The event type; empty if the frame has none, which means `message`.
    pub event: String,
    /// The id, if the frame has one of its own.
    pub id: Option<String>,
    /// The data. Several lines are joined by line feeds.
    pub data: String,
}

/// A frame was larger than the limit and was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of {bytes} bytes is too large")]
pub struct FrameTooLarge {
    /// How large it was.
    pub bytes: usize,
}
