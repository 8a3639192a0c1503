//! Renders a change to a file as coloured lines.

use protocol::message::FileDiff;

use super::screen::TextStyle;

/// How many lines of a change are shown.
const LINES_MAX: usize = 40;

/// How many unchanged lines are shown before and after a change.
const CONTEXT_LINES: usize = 2;

/// The first lines of a change with their styles.
pub(super) fn diff_lines(diff: &FileDiff) -> Vec<(TextStyle, String)> {
    let mut lines = all_diff_lines(diff);
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        lines.push((TextStyle::Dim, format!("… {more} more lines")));
    }
    lines
}

/// All lines of a change with their styles.
pub(super) fn all_diff_lines(diff: &FileDiff) -> Vec<(TextStyle, String)> {
    match (&diff.unified, &diff.new_text) {
        (Some(unified), _) => unified.lines().map(|line| (unified_style(line), line.to_owned())).collect(),
        (None, Some(new)) => changed_lines(diff.old_text.as_deref().unwrap_or_default(), new),
        (None, None) => Vec::new(),
    }
}

fn unified_style(line: &str) -> TextStyle {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => TextStyle::Dim,
        [b'+', ..] => TextStyle::Green,
        [b'-', ..] => TextStyle::Red,
        [b'@', b'@', ..] => TextStyle::Cyan,
        _ => TextStyle::Dim,
    }
}

/// The changed stretch of two texts, without a real diff: everything between the common first and the common last lines. That
/// is enough, because agents report one edit at a time.
fn changed_lines(old: &str, new: &str) -> Vec<(TextStyle, String)> {
    let old: Vec<_> = old.lines().collect();
    let new: Vec<_> = new.lines().collect();
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let line = |style: TextStyle, sign: char, line: &&str| (style, format!("{sign}{line}"));
    let mut lines = Vec::new();
    lines.extend(
        old[before.saturating_sub(CONTEXT_LINES)..before].iter().map(|text| line(TextStyle::Dim, ' ', text)),
    );
    lines.extend(old[before..old.len() - after].iter().map(|text| line(TextStyle::Red, '-', text)));
    lines.extend(new[before..new.len() - after].iter().map(|text| line(TextStyle::Green, '+', text)));
    let tail = &new[new.len() - after..];
    lines.extend(tail.iter().take(CONTEXT_LINES).map(|text| line(TextStyle::Dim, ' ', text)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let shown: Vec<_> = changed_lines(old, new).into_iter().map(|(_, line)| line).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_change_is_shown_with_its_context() {
        check("a\nb\nc\nold\nd\ne\nf", "a\nb\nc\nnew\nd\ne\nf", &[" b", " c", "-old", "+new", " d", " e"]);
        check("", "one\ntwo", &["+one", "+two"]);
        check("one\ntwo", "", &["-one", "-two"]);
        check("a\na", "a\na\na", &[" a", " a", "+a"]);
        check("same", "same", &[" same"]);
    }

    #[test]
    fn a_unified_change_is_coloured_by_its_signs() {
        let diff = FileDiff {
            path: "x".into(),
            unified: Some("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new".into()),
            old_text: None,
            new_text: None,
        };
        let styles: Vec<_> = diff_lines(&diff).into_iter().map(|(style, _)| style).collect();
        assert_eq!(
            styles,
            [TextStyle::Dim, TextStyle::Dim, TextStyle::Cyan, TextStyle::Red, TextStyle::Green]
        );
    }
}
