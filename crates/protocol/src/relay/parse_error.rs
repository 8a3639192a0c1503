//! Parse errors that do not repeat the input.

/// Describes the expected input but not the received one, which may contain secrets.
pub(crate) fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => text,
    }
}
