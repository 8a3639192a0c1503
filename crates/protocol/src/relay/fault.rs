//! What is wrong with what a peer said, without saying it again.

/// What is wrong: what was expected and where, but not what came instead, as that may be a secret.
pub(crate) fn of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => text,
    }
}
