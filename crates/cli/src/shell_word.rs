//! Words of command lines.

/// Quotes a word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+');
    if !word.is_empty() && word.bytes().all(is_safe) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
