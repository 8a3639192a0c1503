//! Durations as people write them in options: `30s`, `8h`, `7d`.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

const EXPECTED: &str = "write a number and a unit, for example 500ms, 90s, 30m, 8h or 7d";

/// Parses a duration. A unit is required, except for `0`; a day has 24 hours.
///
/// # Errors
/// A sentence that tells the user how to write a duration.
pub fn parse(text: &str) -> Result<Duration, &'static str> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    // `Span` also reads `1 month`, which has no fixed length: `to_duration` rejects it.
    let span = text.parse::<Span>().map_err(|_| EXPECTED)?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| EXPECTED)?;
    Duration::try_from(duration).map_err(|_| "a duration cannot be negative")
}

/// Parses a duration of at least one millisecond, for options where zero has no meaning.
///
/// # Errors
/// A sentence that tells the user how to write a duration.
pub fn parse_positive(text: &str) -> Result<Duration, &'static str> {
    let duration = parse(text)?;
    if duration < Duration::from_millis(1) {
        return Err("the duration must be at least 1ms");
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [
            ("0", 0.0),
            ("0s", 0.0),
            ("500ms", 0.5),
            ("90s", 90.0),
            ("30m", 1_800.0),
            ("1h30m", 5_400.0),
            ("8h", 28_800.0),
            ("24 hours", 86_400.0),
            ("7d", 604_800.0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "90", "-5s", "5s ago", "1 month", "1y", "soon", "5 bananas", "999999999999999999h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_positive_duration_is_not_zero() {
        assert_eq!(parse_positive("1ms"), Ok(Duration::from_millis(1)));
        for text in ["0", "0s", "1us"] {
            assert!(parse_positive(text).is_err(), "{text}");
        }
    }
}
