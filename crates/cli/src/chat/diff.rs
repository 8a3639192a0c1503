//! What was changed in a file, as lines.

use protocol::message::FileDiff;

use super::screen::Look;

/// How many lines of a change are shown.
const LINES_MAX: usize = 40;

/// How many lines around a change are shown.
const CONTEXT: usize = 2;

/// The lines of a change, each with its look.
pub(super) fn lines(diff: &FileDiff) -> Vec<(Look, String)> {
    let mut lines = match (&diff.unified, &diff.new_text) {
        (Some(unified), _) => unified.lines().map(|line| (look(line), line.to_owned())).collect(),
        (None, Some(new)) => between(diff.old_text.as_deref().unwrap_or_default(), new),
        (None, None) => Vec::new(),
    };
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        lines.push((Look::Dim, format!("… {more} more lines")));
    }
    lines
}

fn look(line: &str) -> Look {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Look::Dim,
        [b'+', ..] => Look::Green,
        [b'-', ..] => Look::Red,
        [b'@', b'@', ..] => Look::Cyan,
        _ => Look::Dim,
    }
}

/// The one stretch in which two texts differ: agents change one place at a time, and tell each.
fn between(old: &str, new: &str) -> Vec<(Look, String)> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let line = |look: Look, sign: char, line: &&str| (look, format!("{sign}{line}"));
    let mut lines = Vec::new();
    lines.extend(old[before.saturating_sub(CONTEXT)..before].iter().map(|text| line(Look::Dim, ' ', text)));
    lines.extend(old[before..old.len() - after].iter().map(|text| line(Look::Red, '-', text)));
    lines.extend(new[before..new.len() - after].iter().map(|text| line(Look::Green, '+', text)));
    let tail = &new[new.len() - after..];
    lines.extend(tail.iter().take(CONTEXT).map(|text| line(Look::Dim, ' ', text)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let shown: Vec<_> = between(old, new).into_iter().map(|(_, line)| line).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
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
        let looks: Vec<_> = lines(&diff).into_iter().map(|(look, _)| look).collect();
        assert_eq!(looks, [Look::Dim, Look::Dim, Look::Cyan, Look::Red, Look::Green]);
    }
}
