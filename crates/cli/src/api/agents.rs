//! `tombolo api agents`.

use clap::Subcommand;
use client::{Client, InstallEvent};
use protocol::{
    AgentName,
    agents::{AgentInstalled, AgentList, AgentProtocol, AgentSource, InstallAgentRequest},
};

use super::operations::mirrors;
use crate::{
    exit::{CommandError, CommandResult},
    output::{CommandOutput, card, or_dash, table, yes_no},
    progress,
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonAgentsCommand {
    /// List the agents of the daemon, with their version and whether they are installed
    #[command(
        after_help = "Examples:\n  tombolo api agents list\n  tombolo api agents list --json | jq -r '.items[].id'"
    )]
    List,
    /// Install an agent if it is missing
    #[command(after_help = "Examples:\n  tombolo api agents install mock")]
    Install {
        /// The agent
        agent: AgentName,
        /// Install this version, or `latest` [default: the version that Tombolo was tested with]
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        /// Install again even if the agent is installed; download everything again
        #[arg(long)]
        reinstall: bool,
        /// Install files that have no checksum to verify them with
        #[arg(long)]
        allow_unverified: bool,
    },
    /// List the modes that sessions of an agent accept
    #[command(after_help = "Examples:\n  tombolo api agents modes mock")]
    Modes {
        /// The agent
        agent: AgentName,
        /// The directory of the session [default: that of the daemon]
        #[arg(long, value_name = "DIRECTORY")]
        directory: Option<String>,
    },
    /// List the models of an agent
    #[command(after_help = "Examples:\n  tombolo api agents models mock")]
    Models {
        /// The agent
        agent: AgentName,
        /// The directory of the session [default: that of the daemon]
        #[arg(long, value_name = "DIRECTORY")]
        directory: Option<String>,
    },
}

mirrors! { DaemonAgentsCommand:
    List = "list" GET "/v1/agents";
    Install = "install" POST "/v1/agents/{agent}/install";
    Modes = "modes" GET "/v1/agents/{agent}/modes";
    Models = "models" GET "/v1/agents/{agent}/models";
}

impl RequestCommand for DaemonAgentsCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let agents = client.agents();
        match self {
            DaemonAgentsCommand::List => output.answer(&agents.list().await?, list),
            DaemonAgentsCommand::Install { agent, version, reinstall, allow_unverified } => {
                let request = InstallAgentRequest { version, reinstall, allow_unverified };
                follow(client, output, &agent, &request).await
            }
            DaemonAgentsCommand::Modes { agent, directory } => {
                output.answer(&agents.modes(&agent, directory.as_deref()).await?, |list| {
                    let rows = list.modes.into_iter().map(|mode| [mode.id, mode.name, mode.description]);
                    table(["ID", "NAME", "DESCRIPTION"], rows)
                })
            }
            DaemonAgentsCommand::Models { agent, directory } => {
                output.answer(&agents.models(&agent, directory.as_deref()).await?, |list| {
                    let rows =
                        list.items.into_iter().map(|model| [model.id, model.name, model.variants.join(", ")]);
                    table(["ID", "NAME", "VARIANTS"], rows)
                })
            }
        }
    }
}

/// Shows the progress of an installation, and prints its result.
async fn follow(
    client: &Client,
    output: CommandOutput,
    agent: &AgentName,
    options: &InstallAgentRequest,
) -> CommandResult {
    let mut events = client.agents().follow_install(agent, options).await?;
    let mut bars = progress::InstallProgressBars::default();
    let mut result = None;
    while let Some(event) = events.next().await? {
        match event {
            InstallEvent::Progress(progress) => bars.show(&progress),
            InstallEvent::Done(done, body) => result = Some((done, body)),
        }
    }
    bars.clear();
    let Some((done, body)) = result else {
        return Err(CommandError::Local(anyhow::anyhow!(
            "the connection was lost during the installation: run the command again"
        )));
    };
    if output.json { output.bytes(body.as_bytes()) } else { output.line(&installed(done)) }
}

pub(crate) fn list(list: AgentList) -> String {
    let rows = list.items.into_iter().map(|agent| {
        [
            agent.id.to_string(),
            agent.name,
            yes_no(agent.installed),
            or_dash(agent.version),
            or_dash(agent.verified.map(yes_no)),
            source(agent.source).into(),
            protocol(agent.protocol, agent.capabilities.acp),
            yes_no(agent.credentials_found),
            (agent.running_instances + agent.running_sessions).to_string(),
            or_dash(agent.path),
        ]
    });
    let header = [
        "ID",
        "NAME",
        "INSTALLED",
        "VERSION",
        "VERIFIED",
        "SOURCE",
        "PROTOCOL",
        "CREDENTIALS",
        "RUNNING",
        "PATH",
    ];
    table(header, rows)
}

fn source(source: AgentSource) -> &'static str {
    match source {
        AgentSource::BuiltIn => "built in",
        AgentSource::Catalog => "catalog",
        AgentSource::Registry => "registry",
        AgentSource::User => "user",
    }
}

fn protocol(own: AgentProtocol, acp: bool) -> String {
    let name = match own {
        AgentProtocol::Acp => return "acp".into(),
        AgentProtocol::Claude => "claude",
        AgentProtocol::Codex => "codex",
        AgentProtocol::Opencode => "opencode",
        AgentProtocol::Amp => "amp",
    };
    if acp { format!("{name}, acp") } else { name.into() }
}

fn installed(installed: AgentInstalled) -> String {
    let failed = installed.failed.iter().map(|failed| format!("{}: {}", failed.component, failed.reason));
    let failed = Some(Vec::from_iter(failed).join("; "));
    card([
        ("agent", installed.agent.to_string()),
        ("already installed", yes_no(installed.already_installed)),
        ("version", or_dash(installed.version)),
        ("verified", or_dash(installed.verified.map(yes_no))),
        ("path", or_dash(installed.path)),
        ("failed", or_dash(failed.filter(|failed| !failed.is_empty()))),
    ])
}
