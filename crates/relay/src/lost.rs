//! Why a connection ended.

use protocol::relay::{RelayError, RelayErrorCode};

use crate::limits::REASON_BYTES_MAX;

/// Why who says nothing, or is not accepted in time, is closed: another time it may be faster.
pub(crate) const LATE: &str = "no hello in time";

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The other side closed it.
    #[error("the peer closed the connection ({code}): {reason}")]
    Closed {
        /// Its code.
        code: u16,
        /// Its reason.
        reason: String,
    },
    /// The other side is gone without a word.
    #[error("the peer disconnected")]
    Gone,
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Failed(String),
    /// The other side broke a rule, so this side closed it.
    #[error("the peer violated the protocol: {reason}")]
    Fault {
        /// What this side closed it with.
        code: CloseCode,
        /// Which rule.
        reason: String,
    },
    /// The other side does not answer.
    #[error("the peer does not answer heartbeats")]
    Silent,
    /// This side did not accept the other.
    #[error("not accepted: {0}")]
    Refused(String),
    /// This side closed it.
    #[error("closed: {0}")]
    Stopped(String),
}

/// What a connection is closed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseCode {
    /// Nothing is wrong.
    Normal,
    /// A message is no JSON.
    Invalid,
    /// A rule was broken.
    Policy,
    /// A message is too large.
    TooLarge,
}

impl CloseCode {
    /// As it is said on a WebSocket.
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
    /// A rule that the other side broke.
    pub(crate) fn fault(code: CloseCode, reason: impl Into<String>) -> Self {
        Self::Fault { code, reason: reason.into() }
    }

    /// The same, for most of the rules.
    pub(crate) fn policy(reason: impl Into<String>) -> Self {
        Self::fault(CloseCode::Policy, reason)
    }

    /// Why the other side does not accept a device, if it said so before it did: it would say so again.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Closed { code, reason } if *code == CloseCode::Policy.number() && reason != LATE => {
                Some(reason)
            }
            _ => None,
        }
    }

    /// What the other side is told, if it can still be told something.
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

    /// What a request comes to that was going on.
    pub(crate) fn outcome(&self) -> RelayError {
        RelayError::new(RelayErrorCode::RelayDisconnected, self.to_string())
    }
}
