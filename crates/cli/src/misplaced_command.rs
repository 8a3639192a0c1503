//! Finds the command that a user meant who left out a word of it: `tombolo sessions list`.

use clap::{Command, error::ErrorKind};

use crate::shell_word::quoted;

/// The commands whose subcommands are often typed without them, in the order in which they are suggested.
const PARENTS: [&str; 3] = ["api", "hub", "device"];

/// How many letters may be wrong in a command for which another is suggested.
const MISTAKES_MAX: usize = 2;

/// A suggestion for an unknown command; `arguments` are those of the program.
pub(crate) fn hint(
    error: &clap::Error,
    definition: &Command,
    arguments: impl Iterator<Item = String>,
) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let arguments: Vec<String> = arguments.collect();
    let first = arguments.first()?;
    if definition.find_subcommand(first).is_some() {
        return None;
    }
    if first == "version" {
        return Some("did you mean `tombolo --version`?".into());
    }
    let below = PARENTS.iter().filter_map(|parent| Some((*parent, definition.find_subcommand(parent)?)));
    let commands = below.flat_map(|(parent, command)| {
        command.get_subcommands().map(move |subcommand| (parent, subcommand.get_name()))
    });
    let mistakes = |name: &str| strsim::damerau_levenshtein(first, name);
    let most = MISTAKES_MAX.min(first.chars().count() / 2);
    // The first of several equally similar ones, which is that of the first parent.
    let (parent, name) =
        commands.filter(|(_, name)| mistakes(name) <= most).min_by_key(|(_, name)| mistakes(name))?;
    let rest = arguments[1..].iter().map(|argument| quoted(argument));
    let words: Vec<String> = std::iter::once(name.to_owned()).chain(rest).collect();
    Some(format!("did you mean `tombolo {parent} {}`?", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Tombolo;

    #[test]
    fn a_command_without_its_parent_is_found() {
        let check = |line: &str, expected: Option<&str>| {
            let error = Tombolo::definition().try_get_matches_from(line.split(' ')).unwrap_err();
            let arguments = line.split(' ').skip(1).map(str::to_owned);
            assert_eq!(hint(&error, &Tombolo::definition(), arguments).as_deref(), expected, "{line}");
        };
        check("tombolo sessions list", Some("did you mean `tombolo api sessions list`?"));
        check("tombolo runtimes list", Some("did you mean `tombolo hub runtimes list`?"));
        check("tombolo pair http://h", Some("did you mean `tombolo device pair 'http://h'`?"));
        check("tombolo sesions list", Some("did you mean `tombolo api sessions list`?"));
        check("tombolo runtime list", Some("did you mean `tombolo hub runtimes list`?"));
        check("tombolo version", Some("did you mean `tombolo --version`?"));
        check("tombolo nonsense", None);
        check("tombolo api nonsense", None);
        check("tombolo chat --nonsense", None);
    }
}
