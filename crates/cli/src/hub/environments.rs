//! `tombolo hub environments`: the access of sessions to devices.

use clap::Subcommand;
use client::Client;
use protocol::{
    EnvironmentId, RuntimeId, SessionId,
    lending::{CreateEnvironmentRequest, Environment, EnvironmentSpec},
    relay::{ApprovalPolicy, ClientId, Family, RootId},
};

use super::grant_args::{parse_approval, root_summary};
use crate::{
    exit::CommandResult,
    output::{CommandOutput, or_dash, table, time},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubEnvironmentsCommand {
    /// List the environments, oldest first
    #[command(after_help = "Examples:\n  tombolo hub environments list")]
    List,
    /// Give a runtime access to a device, and print the secret for it once
    #[command(after_help = "\
A session that is created through the hub with `environment` gets its environment automatically.

Examples:
  tombolo hub environments add --runtime box --device laptop --session demo
  tombolo hub environments add --runtime box --device laptop --ask file.write=always_ask")]
    Add {
        /// The runtime
        #[arg(long)]
        runtime: RuntimeId,
        /// The device
        #[arg(long)]
        device: ClientId,
        /// Bind the environment to this session; it is removed with the session
        #[arg(long)]
        session: Option<SessionId>,
        /// Bind the environment to this run
        #[arg(long)]
        run: Option<String>,
        /// Use the grants of this scope
        #[arg(long)]
        scope: Option<String>,
        /// Use only this granted capability, for example `fileops`; may be repeated
        #[arg(long, value_parser = parse_family)]
        only: Vec<Family>,
        /// Use only this granted directory; may be repeated
        #[arg(long)]
        root: Vec<RootId>,
        /// Require a stricter approval for a method or a tool (`tool:NAME`); may be repeated
        #[arg(long, value_name = "METHOD=APPROVAL", value_parser = parse_ask)]
        ask: Vec<(String, ApprovalPolicy)>,
    },
    /// Show an environment
    #[command(after_help = "Examples:\n  tombolo hub environments get env_0198c0de0198c0de0198c0de0198c0de")]
    Get {
        /// The environment
        id: EnvironmentId,
    },
    /// Remove an environment and cancel its running requests
    #[command(
        after_help = "Examples:\n  tombolo hub environments remove env_0198c0de0198c0de0198c0de0198c0de"
    )]
    Remove {
        /// The environment
        id: EnvironmentId,
    },
}

fn parse_family(text: &str) -> Result<Family, String> {
    let known = Family::ALL.into_iter().find(|family| family.as_str() == text);
    known.ok_or_else(|| "use fileops, shell, tools, resources, artifacts or computer".into())
}

fn parse_ask(text: &str) -> Result<(String, ApprovalPolicy), String> {
    let (method, approval) =
        text.split_once('=').ok_or("write METHOD=APPROVAL, for example file.write=always_ask")?;
    Ok((method.to_owned(), parse_approval(approval)?))
}

impl RequestCommand for HubEnvironmentsCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let environments = hub.environments();
        match self {
            HubEnvironmentsCommand::List => {
                output.answer(&environments.list().await?, |list| view(list.items))
            }
            HubEnvironmentsCommand::Add { runtime, device, session, run, scope, only, root, ask } => {
                let using = EnvironmentSpec {
                    client_id: device,
                    scope_id: scope,
                    capabilities: (!only.is_empty()).then_some(only),
                    roots: (!root.is_empty()).then_some(root),
                    approvals: ask.into_iter().collect(),
                };
                let add =
                    CreateEnvironmentRequest { runtime_id: runtime, session_id: session, run_id: run, using };
                output.answer(&environments.add(&add).await?, |added| {
                    format!("{}\n\nsecret, shown once: {}", view(vec![added.environment]), added.secret)
                })
            }
            HubEnvironmentsCommand::Get { id } => {
                output.answer(&environments.get(id).await?, |it| view(vec![it]))
            }
            HubEnvironmentsCommand::Remove { id } => {
                environments.remove(id).await?;
                output.done(&format!("removed {id}"))
            }
        }
    }
}

pub(super) fn view(environments: Vec<Environment>) -> String {
    let rows = environments.into_iter().map(|environment| {
        let uses = environment.binding.as_ref().map(|binding| {
            binding.capabilities.iter().copied().map(Family::as_str).collect::<Vec<_>>().join(" ")
        });
        let roots = environment
            .binding
            .as_ref()
            .map(|binding| binding.roots.iter().map(root_summary).collect::<Vec<_>>().join(" "));
        [
            environment.id.to_string(),
            environment.runtime_id.to_string(),
            or_dash(environment.session_id),
            environment.client_id.to_string(),
            or_dash(uses),
            or_dash(roots),
            time(Some(environment.created_at)),
        ]
    });
    table(["ID", "RUNTIME", "SESSION", "DEVICE", "USES", "ROOTS", "CREATED"], rows)
}
