//! What whoever asks is told when nothing comes of it: never a path of this machine.

use protocol::relay::{MethodInfo, RelayError, RelayErrorCode};

pub(super) fn invalid(message: &str) -> RelayError {
    RelayError::new(RelayErrorCode::InvalidRequest, message)
}

pub(super) fn denied(message: &str) -> RelayError {
    RelayError::new(RelayErrorCode::PermissionDenied, message)
}

pub(super) fn failed(message: &str) -> RelayError {
    RelayError::new(RelayErrorCode::ProviderError, message)
}

/// More than there may be now; later there may be less.
pub(super) fn busy(message: &str) -> RelayError {
    failed(message).with("reason", "busy")
}

/// Something of a command is not there.
pub(super) fn missing(id: &str, reason: &str, message: &str) -> RelayError {
    RelayError::new(RelayErrorCode::NotFound, message).with("command_id", id).with("reason", reason)
}

/// It was ended; `lost` if nobody can tell whether all of it is gone.
pub(super) fn cancelled(lost: bool) -> RelayError {
    confirmed(RelayError::new(RelayErrorCode::Cancelled, "the command was stopped"), lost)
}

/// It took too long, and was ended.
pub(super) fn timed_out(limit_ms: u64, lost: bool) -> RelayError {
    confirmed(
        RelayError::new(RelayErrorCode::Timeout, "the command exceeded its timeout and was stopped"),
        lost,
    )
    .with("limit", limit_ms)
}

pub(super) fn unknown(row: &MethodInfo) -> RelayError {
    RelayError::new(RelayErrorCode::CapabilityUnavailable, "the device does not offer this")
        .with("method", row.name)
}

fn confirmed(error: RelayError, lost: bool) -> RelayError {
    if lost { error.with("lost", true) } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// relay-53
    #[test]
    fn what_cannot_be_confirmed_is_lost() {
        assert_eq!(cancelled(true).details["lost"], true);
        assert_eq!(timed_out(1, true).details["lost"], true);
        assert!(cancelled(false).details.is_empty() && timed_out(1, false).details.get("lost").is_none());
    }
}
