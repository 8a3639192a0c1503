//! Durations on the command line: `30s`, `8h`, `7d`.

use std::time::Duration;

use jiff::Timestamp;

pub(crate) use human_duration::{parse, parse_positive};

use crate::exit::CommandError;

/// How an option with a duration is shown in the help.
pub(crate) const VALUE_NAME: &str = "DURATION";

/// The time `duration` from now, for options such as `--expires-in`.
pub(crate) fn from_now(duration: Duration) -> Result<Timestamp, CommandError> {
    Timestamp::now().checked_add(duration).map_err(|_| CommandError::Usage("the duration is too long".into()))
}

/// Whole milliseconds, as the wire carries durations; the longest that fits if there are more.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
