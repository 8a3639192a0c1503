use tokio_tungstenite::tungstenite;

/// Why nothing more can be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum Disconnected {
    /// The peer sent or accepted nothing for the idle timeout.
    #[error("the peer gave no sign of life")]
    Idle,
    /// The connection ended without a close frame.
    #[error("the connection ended")]
    Ended,
    /// The connection failed, or the peer broke the protocol.
    #[error("the connection failed")]
    Failed(#[source] Box<tungstenite::Error>),
}

impl From<tungstenite::Error> for Disconnected {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => Self::Ended,
            error => Self::Failed(Box::new(error)),
        }
    }
}
