//! What can be said on the command line: one definition for both names of the program.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    agents::AgentsOptions,
    api::{self, Api, Resource},
    audit::AuditOptions,
    chat::ChatOptions,
    credentials::Credentials,
    daemon::DaemonOptions,
    device::DeviceOptions,
    editor::EditorOptions,
    generate::{CompletionsOptions, ManOptions, ReferenceOptions},
    hub::HubOptions,
    up::UpOptions,
    waits::WaitsOptions,
};

/// The other name of this program: called by it, it is the daemon.
pub(crate) const SANDBOX_DAEMON: &str = "sandbox-daemon";

/// Help is as wide as a page, however wide the screen is.
const HELP_COLUMNS_MAX: usize = 100;

/// Run coding agents in a sandbox, and drive them from anywhere.
#[derive(Debug, Parser)]
#[command(
    name = "tombolo",
    version,
    arg_required_else_help = true,
    max_term_width = HELP_COLUMNS_MAX,
    after_help = "\
Examples:
  tombolo up                        try it: a daemon and a hub, with the mock agent
  tombolo daemon --token-file T     serve this sandbox
  tombolo hub                       watch the sessions of many sandboxes from one place
  tombolo device connect HUB        lend agents your own directories and commands
  tombolo waits --follow            what waits for a person in all of them
  tombolo chat --agent claude       talk with an agent, here in the terminal
  tombolo acp --agent claude        be that agent for an editor on your own machine
  tombolo api agents list           ask a daemon: one command for every endpoint
  tombolo agents install claude     install an agent on this machine
  tombolo completions bash          complete commands in your shell

Called as `sandbox-daemon`, the program is the daemon: `sandbox-daemon --token T` starts it, and
`sandbox-daemon <resource> <verb>` is `tombolo api <resource> <verb>`."
)]
pub(crate) struct Tombolo {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Try it out: a daemon with the mock agent, a hub, and the next commands to type
    Up(UpOptions),
    #[command(flatten)]
    Serve(Serve),
    /// Watch the sessions of many daemons through one place
    Hub(Box<HubOptions>),
    /// Lend this machine to agents: directories, commands and tools
    Device(Box<DeviceOptions>),
    /// What waits for a person, in all sandboxes; and the answers
    Waits(Box<WaitsOptions>),
    /// What was asked of devices, and whether nothing was changed in that record
    Audit(Box<AuditOptions>),
    /// Talk with an agent in the terminal
    Chat(Box<ChatOptions>),
    /// Be an ACP agent for an editor: the one in the sandbox
    Acp(EditorOptions),
    /// Ask a daemon: one command for every endpoint
    Api(Api),
    /// Install and list the agents of this machine, without a daemon
    Agents(AgentsOptions),
    /// The credentials of this machine
    Credentials(Credentials),
    /// Print a script that completes commands in your shell
    Completions(CompletionsOptions),
    /// Print the manual page, or write all of them
    Man(ManOptions),
    /// Print what is generated from the code and kept in `docs`
    #[command(hide = true)]
    Reference(ReferenceOptions),
    /// Be the mock agent on the standard streams
    #[command(hide = true)]
    MockAgent,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Serve {
    /// Serve the agents, files and processes of this machine over HTTP
    Daemon(Box<DaemonOptions>),
}

/// The part of [`Tombolo`] that starts a daemon.
#[derive(Debug, Parser)]
#[command(name = "tombolo")]
struct OnlyServe {
    #[command(subcommand)]
    serve: Serve,
}

/// The part of [`SandboxDaemon`] that starts a daemon.
#[derive(Debug, Parser)]
#[command(name = SANDBOX_DAEMON)]
struct OnlyOptions {
    #[command(flatten)]
    options: Box<DaemonOptions>,
}

/// The options of a daemon, if that is what is asked for, without the definition of everything else: a daemon lives
/// long, and the code that defines the other commands would stay in its memory. What is not understood here is read
/// again with the whole definition, which knows how to help.
pub(crate) fn daemon_options(as_sandbox_daemon: bool) -> Option<Box<DaemonOptions>> {
    if as_sandbox_daemon {
        return Some(OnlyOptions::try_parse().ok()?.options);
    }
    let is_daemon = std::env::args_os().nth(1).is_some_and(|first| first == "daemon");
    let OnlyServe { serve: Serve::Daemon(options) } = is_daemon.then(OnlyServe::try_parse)?.ok()?;
    Some(options)
}

/// Serve the agents, files and processes of this machine over HTTP, or ask a daemon that does.
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
pub(crate) enum SandboxCommand {
    #[command(flatten)]
    Resource(Resource),
    /// Be the mock agent on the standard streams
    #[command(hide = true)]
    MockAgent,
}

impl Tombolo {
    /// The whole definition, with what each API command mirrors.
    pub(crate) fn definition() -> clap::Command {
        Self::command().mut_subcommand("api", api::with_operations)
    }

    /// What was said; ends the program if it makes no sense.
    pub(crate) fn parse_arguments() -> Self {
        let matches = Self::definition().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

impl SandboxDaemon {
    /// The whole definition, with what each API command mirrors.
    pub(crate) fn definition() -> clap::Command {
        api::with_operations(Self::command())
    }

    /// What was said; ends the program if it makes no sense.
    pub(crate) fn parse_arguments() -> Self {
        let matches = Self::definition().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text below the options is broken into lines by hand; a line that is too long is broken again.
    #[test]
    fn lines_of_help_fit_on_a_page() {
        fn check(command: &clap::Command) {
            let helps = [command.get_after_help(), command.get_after_long_help()];
            for line in helps
                .into_iter()
                .flatten()
                .flat_map(|help| help.to_string().lines().map(String::from).collect::<Vec<_>>())
            {
                assert!(line.chars().count() <= HELP_COLUMNS_MAX, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Tombolo::definition());
        check(&SandboxDaemon::definition());
    }

    #[test]
    fn both_definitions_hold_together() {
        Tombolo::definition().debug_assert();
        SandboxDaemon::definition().debug_assert();
    }
}
