//! The title of a session to which the client gave none.

/// The longest title, in characters.
const TITLE_CHARS_MAX: usize = 60;

/// Returns the title that a session gets from its first message: the beginning of the first line, in whole words, because half a
/// path or a name would mislead. `None` if the message has no text.
///
/// The TypeScript SDK has the same function, and both are tested on `fixtures/session`.
#[must_use]
pub fn title_of_message(message: &str) -> Option<String> {
    let mut title = String::new();
    let mut words = message.trim_start().lines().next()?.split_whitespace().peekable();
    while let Some(word) = words.next_if(|word| {
        title.is_empty() || title.chars().count() + 1 + word.chars().count() <= TITLE_CHARS_MAX
    }) {
        title += if title.is_empty() { "" } else { " " };
        title += word;
    }
    // A single long word, such as a URL, is cut all the same.
    if let Some((at, _)) = title.char_indices().nth(TITLE_CHARS_MAX) {
        title.truncate(at);
        title.push('…');
    } else if words.peek().is_some() {
        title += " …";
    }
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_beginning_of_the_first_line() {
        let check =
            |message: &str, title: Option<&str>| assert_eq!(title_of_message(message).as_deref(), title);
        check("Fix the test", Some("Fix the test"));
        check("\n  Fix  the\ttest \nin main.rs", Some("Fix the test"));
        check(" \n", None);
        check(
            "Why does the build of the second package fail on the first of January only?",
            Some("Why does the build of the second package fail on the first …"),
        );
        check(&"x".repeat(61), Some(&format!("{}…", "x".repeat(60))));
    }
}
