//! Why a connection ended.

use protocol::relay::{RelayError, RelayErrorCode};

use crate::limits::REASON_BYTES_MAX;

/// The reason for closing a connection whose handshake took too long. The device may try again.
pub(crate) const LATE: &str = "no hello in time";

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The peer closed the connection.
    #[error("the peer closed the connection ({code}): {reason}")]
    Closed {
        /// The close code.
        code: u16,
        /// The reason of the peer.
        reason: String,
    },
    /// The peer disconnected without closing the connection.
    #[error("the peer disconnected")]
    Gone,
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Failed(String),
    /// This side closed the connection because the peer violated the protocol.
    #[error("the peer violated the protocol: {reason}")]
    Fault {
        /// The close code.
        code: CloseCode,
        /// The violated rule.
        reason: String,
    },
    /// The peer does not respond.
    #[error("the peer does not answer heartbeats")]
    Silent,
    /// This side did not accept the peer.
    #[error("not accepted: {0}")]
    Refused(String),
    /// This side closed the connection.
    #[error("closed: {0}")]
    Stopped(String),
}

/// The code with which a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseCode {
    /// There is no error.
    Normal,
    /// A message is not JSON.
    Invalid,
    /// The protocol was violated.
    Policy,
    /// A message is too large.
    TooLarge,
}

impl CloseCode {
    /// The close code of a WebSocket.
    pub fn number(self) -> u16 {
        match self {
            Self::Normal => 1000,
            Self::Invalid => 1007,
            Self::Policy => 1008,
            Self::TooLarge => 1009,
        }
    }
}

impl Lost {
    /// A violation of the protocol by the peer.
    pub(crate) fn fault(code: CloseCode, reason: impl Into<String>) -> Self {
        Self::Fault { code, reason: reason.into() }
    }

    /// A violation with the code that most rules have.
    pub(crate) fn policy(reason: impl Into<String>) -> Self {
        Self::fault(CloseCode::Policy, reason)
    }

    /// Why the peer refused this device. It would refuse it again.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Closed { code, reason } if *code == CloseCode::Policy.number() && reason != LATE => {
                Some(reason)
            }
            _ => None,
        }
    }

    /// The close frame for the peer, unless the connection is closed already.
    pub(crate) fn farewell(&self) -> Option<(CloseCode, String)> {
        let (code, reason) = match self {
            Self::Closed { .. } | Self::Gone | Self::Failed(_) => return None,
            Self::Fault { code, reason } => (*code, reason.as_str()),
            Self::Silent => (CloseCode::Policy, "no answer"),
            Self::Refused(reason) => (CloseCode::Policy, reason.as_str()),
            Self::Stopped(reason) => (CloseCode::Normal, reason.as_str()),
        };
        Some((code, reason[..reason.floor_char_boundary(REASON_BYTES_MAX)].to_owned()))
    }

    /// The outcome of the requests that were running.
    pub(crate) fn outcome(&self) -> RelayError {
        RelayError::new(RelayErrorCode::RelayDisconnected, self.to_string())
    }
}
