//! Deprecated spellings of options. They are accepted and hidden, and using one prints what replaces it.
//!
//! An option is deprecated when it is hidden and its help begins with [`PREFIX`]; the rest of the help names the
//! replacement:
//!
//! ```ignore
//! /// Deprecated: use --grace, for example --grace 2s
//! #[arg(long, hide = true, conflicts_with = "grace", value_name = "MS")]
//! grace_ms: Option<u64>,
//! ```

use std::collections::BTreeSet;

use clap::{ArgMatches, Command, parser::ValueSource};

use crate::exit;

/// The help of a deprecated option begins with this.
const PREFIX: &str = "Deprecated: ";

/// Parses the command line as `definition` defines it, and prints a warning for each deprecated option on it.
pub(crate) fn parse(mut definition: Command) -> Result<ArgMatches, clap::Error> {
    let matches = definition.try_get_matches_from_mut(std::env::args_os())?;
    for warning in warnings(&definition, &matches) {
        exit::say(&warning);
    }
    Ok(matches)
}

/// One line for each deprecated option that was used, at any level of subcommands. Clap reports a global option once
/// for every level, hence the set.
fn warnings(mut command: &Command, mut matches: &ArgMatches) -> BTreeSet<String> {
    let mut warnings = BTreeSet::new();
    loop {
        for argument in command.get_arguments().filter(|argument| argument.is_hide_set()) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let is_used =
                || matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine);
            if let (Some(option), Some(replacement)) = (argument.get_long(), help.strip_prefix(PREFIX))
                && is_used()
            {
                warnings.insert(format!("warning: --{option} is deprecated: {replacement}"));
            }
        }
        let Some((name, below)) = matches.subcommand() else { return warnings };
        let Some(subcommand) = command.find_subcommand(name) else { return warnings };
        (command, matches) = (subcommand, below);
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Tombolo;

    #[derive(Parser)]
    struct Example {
        /// Deprecated: use --new
        #[arg(long, hide = true, global = true)]
        old: Option<u64>,
        #[command(subcommand)]
        command: Option<ExampleCommand>,
    }

    #[derive(clap::Subcommand)]
    enum ExampleCommand {
        Run,
    }

    fn warnings_of(definition: &mut Command, arguments: &str) -> Vec<String> {
        let matches = definition.try_get_matches_from_mut(arguments.split(' '));
        let matches = matches.unwrap_or_else(|error| panic!("{arguments}: {error}"));
        warnings(definition, &matches).into_iter().collect()
    }

    #[test]
    fn a_deprecated_option_is_named_once_at_any_level() {
        let warning = ["warning: --old is deprecated: use --new"];
        for (arguments, expected) in [
            ("x run --old 1", &warning[..]),
            ("x --old 1 run", &warning),
            ("x --old 1", &warning),
            ("x run", &[]),
        ] {
            assert_eq!(warnings_of(&mut Example::command(), arguments), expected, "{arguments}");
        }
    }

    /// A command line for every deprecated option of the program, and the option it uses.
    const DEPRECATED: &[(&str, &str)] = &[
        ("tombolo daemon --grace-ms 5000", "grace-ms"),
        ("tombolo daemon --timeout-max-ms 5000", "timeout-max-ms"),
        ("tombolo daemon --stall-ms 5000", "stall-ms"),
        ("tombolo hub whoami --endpoint http://h", "endpoint"),
        ("tombolo audit list --endpoint http://h", "endpoint"),
        ("tombolo hub --approval-seconds 60", "approval-seconds"),
        ("tombolo hub grants add laptop --runtime box --shell --command-seconds 60", "command-seconds"),
        ("tombolo hub devices confirm AAAA-BBBB --shell --command-seconds 60", "command-seconds"),
        ("tombolo acp --agent mock --patience-ms 5000", "patience-ms"),
        ("tombolo acp --agent mock --linger-ms 5000", "linger-ms"),
        ("tombolo api acp send a {} --timeout-ms 5000", "timeout-ms"),
        ("tombolo api acp send a {} --linger-ms 5000", "linger-ms"),
        ("tombolo api acp prepare a --agent mock --linger-ms 5000", "linger-ms"),
        ("tombolo api acp delete a --grace-ms 5000", "grace-ms"),
        ("tombolo api processes wait prc_0198c0de0198c0de0198c0de0198c0de --timeout-ms 5000", "timeout-ms"),
    ];

    #[test]
    fn every_deprecated_option_is_accepted_with_a_warning() {
        for (arguments, option) in DEPRECATED {
            let warnings = warnings_of(&mut Tombolo::definition(), arguments);
            let [warning] = warnings.as_slice() else { panic!("{arguments}: {warnings:?}") };
            assert!(warning.starts_with(&format!("warning: --{option} is deprecated: use --")), "{warning}");
        }
        let mut defined = BTreeSet::new();
        collect(&Tombolo::definition(), &mut defined);
        let tested = DEPRECATED.iter().map(|(_, option)| (*option).to_owned()).collect();
        assert_eq!(defined, tested, "add a command line for each deprecated option to DEPRECATED");
    }

    fn collect(command: &Command, options: &mut BTreeSet<String>) {
        for argument in command.get_arguments().filter(|argument| argument.is_hide_set()) {
            let is_deprecated = argument.get_help().is_some_and(|help| help.to_string().starts_with(PREFIX));
            if let (true, Some(option)) = (is_deprecated, argument.get_long()) {
                options.insert(option.to_owned());
            }
        }
        command.get_subcommands().for_each(|subcommand| collect(subcommand, options));
    }
}
