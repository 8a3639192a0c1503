//! The command line: one definition for both names of the program.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    agents::AgentsOptions,
    api::{self, ApiOptions, ApiResource},
    audit::AuditOptions,
    chat::{ChatOptions, RunOptions},
    credentials::CredentialsOptions,
    daemon::DaemonOptions,
    deprecated,
    device::DeviceOptions,
    editor::EditorOptions,
    exit,
    generate::{CompletionsOptions, ManOptions, ReferenceOptions},
    hub::HubArgs,
    misplaced_command,
    up::UpOptions,
    waits::WaitsOptions,
};

/// The other name of this program. Called under this name it is the daemon.
pub(crate) const SANDBOX_DAEMON: &str = "sandbox-daemon";

/// Help texts are wrapped at this width, even on wider terminals.
const HELP_COLUMNS_MAX: usize = 100;

/// Run coding agents in a sandbox and control them from anywhere.
#[derive(Debug, Parser)]
#[command(
    name = "tombolo",
    version,
    arg_required_else_help = true,
    max_term_width = HELP_COLUMNS_MAX,
    after_help = "\
Examples:
  tombolo up                        start a daemon and a hub on this machine
  tombolo daemon --token-file T     run the daemon of a sandbox
  tombolo hub                       run a hub that connects many sandboxes
  tombolo device connect HUB        let agents use directories and commands of this machine
  tombolo waits --follow            show what agents wait for, in all sandboxes
  tombolo chat --agent claude       talk to an agent in the terminal
  tombolo run 'Fix the test'        send one prompt and print the answer
  tombolo acp --agent claude        connect an editor to an agent in a sandbox
  tombolo api agents list           call the API of a daemon
  tombolo agents install claude     install an agent on this machine
  tombolo completions bash          complete commands in your shell

Called as `sandbox-daemon`, the program is the daemon: `sandbox-daemon --token T` starts it, and
`sandbox-daemon <resource> <command>` is `tombolo api <resource> <command>`."
)]
pub(crate) struct Tombolo {
    #[command(subcommand)]
    pub(crate) command: TomboloCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TomboloCommand {
    /// Start a daemon and a hub on this machine, and print commands to try
    Up(UpOptions),
    #[command(flatten)]
    Serve(ServeCommand),
    /// Run a hub that connects many daemons, or manage a running one
    Hub(Box<HubArgs>),
    /// Let agents use directories, commands and tools of this machine
    Device(Box<DeviceOptions>),
    /// List and answer the permission requests, questions and plans of agents
    Waits(Box<WaitsOptions>),
    /// List and verify the audit log of device requests
    Audit(Box<AuditOptions>),
    /// Talk to an agent in the terminal
    Chat(Box<ChatOptions>),
    /// Send one prompt to an agent and print its answer
    Run(Box<RunOptions>),
    /// Connect an editor to an agent in a sandbox (ACP over standard input and output)
    Acp(EditorOptions),
    /// Call the HTTP API of a daemon: one command per endpoint
    Api(ApiOptions),
    /// Install and list agents on this machine, without a daemon
    Agents(AgentsOptions),
    /// Find the credentials of agents on this machine
    Credentials(CredentialsOptions),
    /// Print a completion script for your shell
    Completions(CompletionsOptions),
    /// Print the manual page, or write the pages of all commands
    Man(ManOptions),
    /// Print a generated document of `docs`
    #[command(hide = true)]
    Reference(ReferenceOptions),
    /// Run the mock agent on standard input and output
    #[command(hide = true)]
    MockAgent,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Run the daemon of a sandbox: its agents, files and processes over HTTP
    #[command(alias = "server")]
    Daemon(Box<DaemonOptions>),
}

/// The part of [`Tombolo`] that starts a daemon.
#[derive(Debug, Parser)]
#[command(name = "tombolo")]
struct TomboloDaemonOnly {
    #[command(subcommand)]
    serve: ServeCommand,
}

/// The part of [`SandboxDaemon`] that starts a daemon.
#[derive(Debug, Parser)]
#[command(name = SANDBOX_DAEMON)]
struct SandboxDaemonOnly {
    #[command(flatten)]
    options: Box<DaemonOptions>,
}

/// The options of a daemon, if the command line starts one. Only these are defined here: a daemon runs for a long time,
/// and the pages of the code that defines all other commands would stay in its memory. `None` on any error: the caller
/// then parses again with the whole definition, which prints help and errors.
pub(crate) fn daemon_options(as_sandbox_daemon: bool) -> Option<Box<DaemonOptions>> {
    if as_sandbox_daemon {
        let matches = deprecated::parse(SandboxDaemonOnly::command()).ok()?;
        return Some(SandboxDaemonOnly::from_arg_matches(&matches).ok()?.options);
    }
    if std::env::args_os().nth(1).is_none_or(|first| first != "daemon" && first != "server") {
        return None;
    }
    let matches = deprecated::parse(TomboloDaemonOnly::command()).ok()?;
    let TomboloDaemonOnly { serve: ServeCommand::Daemon(options) } =
        TomboloDaemonOnly::from_arg_matches(&matches).ok()?;
    Some(options)
}

/// Run the daemon of a sandbox, or call the API of one.
#[derive(Debug, Parser)]
#[command(
    name = SANDBOX_DAEMON,
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = HELP_COLUMNS_MAX,
    after_help = "\
Examples:
  sandbox-daemon --token T --host 0.0.0.0 --port 2468
  sandbox-daemon agents list --endpoint http://127.0.0.1:2468 --token T"
)]
pub(crate) struct SandboxDaemon {
    #[command(flatten)]
    pub(crate) options: Box<DaemonOptions>,
    #[command(subcommand)]
    pub(crate) command: Option<SandboxCommand>,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "it is parsed once per process")]
pub(crate) enum SandboxCommand {
    #[command(flatten)]
    Resource(ApiResource),
    /// Run the mock agent on standard input and output
    #[command(hide = true)]
    MockAgent,
}

impl Tombolo {
    /// The whole definition, with the endpoint of each API command in its help.
    pub(crate) fn definition() -> clap::Command {
        Self::command().mut_subcommand("api", api::with_operations)
    }

    /// Parses the command line; on an error prints it and exits.
    pub(crate) fn parse_arguments() -> Self {
        let matches = deprecated::parse(Self::definition()).unwrap_or_else(|error| {
            let hint = misplaced_command::hint(&error, &Self::definition(), std::env::args().skip(1));
            let _ = error.print();
            if let Some(hint) = hint {
                exit::say(&format!("\n  {hint}"));
            }
            std::process::exit(error.exit_code())
        });
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

impl SandboxDaemon {
    /// The whole definition, with the endpoint of each API command in its help.
    pub(crate) fn definition() -> clap::Command {
        api::with_operations(Self::command())
    }

    /// Parses the command line; on an error prints it and exits.
    pub(crate) fn parse_arguments() -> Self {
        let matches = deprecated::parse(Self::definition()).unwrap_or_else(|error| error.exit());
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text below the options has hand-made line breaks; clap would wrap a longer line a second time.
    #[test]
    fn help_lines_fit_the_width() {
        fn collect(command: &clap::Command, long_lines: &mut Vec<String>) {
            let helps = [command.get_after_help(), command.get_after_long_help()];
            for line in helps
                .into_iter()
                .flatten()
                .flat_map(|help| help.to_string().lines().map(String::from).collect::<Vec<_>>())
            {
                if line.chars().count() > HELP_COLUMNS_MAX {
                    long_lines.push(format!("{}: {line}", command.get_name()));
                }
            }
            command.get_subcommands().for_each(|command| collect(command, long_lines));
        }
        let mut long_lines = Vec::new();
        collect(&Tombolo::definition(), &mut long_lines);
        collect(&SandboxDaemon::definition(), &mut long_lines);
        assert!(long_lines.is_empty(), "{}", long_lines.join("\n"));
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            let helps = [command.get_after_help(), command.get_after_long_help()];
            let has_example = helps.into_iter().flatten().any(|help| help.to_string().contains("Example"));
            assert!(has_example || command.has_subcommands(), "{path}: add an example");
            command
                .get_subcommands()
                .filter(|command| !command.is_hide_set())
                .for_each(|command| check(command, &path));
        }
        check(&Tombolo::definition(), "");
        check(&SandboxDaemon::definition(), "");
    }

    #[test]
    fn durations_have_units_instead_of_option_names() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let option = argument.get_long().unwrap_or_default();
                assert!(
                    !option.ends_with("-ms") && !option.ends_with("-seconds"),
                    "{} --{option}: take a duration such as 30s, see duration.rs",
                    command.get_name()
                );
            }
            command.get_subcommands().for_each(check);
        }
        check(&Tombolo::definition());
    }

    #[test]
    fn both_definitions_are_consistent() {
        Tombolo::definition().debug_assert();
        SandboxDaemon::definition().debug_assert();
    }
}
