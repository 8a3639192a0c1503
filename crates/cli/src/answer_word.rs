//! The words that answer a permission request, the same in every command.

use protocol::wait::PermissionAnswer;

/// The answers, as help texts and tables write them.
pub(crate) const ALLOW_ONCE: &str = "allow once";
pub(crate) const ALLOW_ALWAYS: &str = "allow always";
pub(crate) const DENY: &str = "deny";

/// The prompts of a permission request: all answers, without `allow always`, and while a part of it is not shown.
pub(crate) const PROMPT: &str = "allow [o]nce, allow [a]lways, [d]eny > ";
pub(crate) const PROMPT_ONCE: &str = "allow [o]nce, [d]eny > ";
pub(crate) const PROMPT_CUT: &str = "[s]how all, [d]eny > ";

/// Explains the possible answers after a line that is none of them.
pub(crate) const HINT: &str = "type o to allow once, a to allow always, or d to deny";
pub(crate) const HINT_ONCE: &str = "type o to allow once, or d to deny";

/// The answer that these words mean: one of the three, its first letter, or a word that other tools use for it.
pub(crate) fn parse(words: &str) -> Option<PermissionAnswer> {
    let words: Vec<_> = words.split_whitespace().map(str::to_ascii_lowercase).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["allow", "once"] | ["allow" | "once" | "o" | "yes" | "y"] => Some(PermissionAnswer::Once),
        ["allow", "always"] | ["always" | "a"] => Some(PermissionAnswer::Always),
        ["deny" | "d" | "reject" | "r" | "no" | "n"] => Some(PermissionAnswer::Reject),
        _ => None,
    }
}

/// The words on the command line as an answer.
pub(crate) fn parse_arguments(words: &[String]) -> Result<PermissionAnswer, String> {
    let words = words.join(" ");
    parse(&words)
        .ok_or_else(|| format!("`{words}` is not an answer: use {ALLOW_ONCE}, {ALLOW_ALWAYS} or {DENY}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_has_its_words_its_letter_and_those_of_before() {
        for (words, answer) in [
            (
                &["allow once", "once", "allow", "o", "Yes", "y", "  Allow   ONCE "][..],
                PermissionAnswer::Once,
            ),
            (&["allow always", "always", "a"], PermissionAnswer::Always),
            (&["deny", "d", "reject", "r", "no", "n"], PermissionAnswer::Reject),
        ] {
            for words in words {
                assert_eq!(parse(words), Some(answer), "{words}");
            }
        }
        for words in ["", "allow never", "deny always", "once more", "ok"] {
            assert_eq!(parse(words), None, "{words}");
        }
    }
}
