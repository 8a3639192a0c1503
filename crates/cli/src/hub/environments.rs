//! `tombolo hub environments`.

use clap::Subcommand;
use client::Client;
use protocol::{
    EnvironmentId, RuntimeId, SessionId,
    lending::{AddEnvironment, Environment, UseDevice},
    relay::{Approval, ClientId, Family, RootId},
};

use super::granted::{approval, root_summary};
use crate::{
    exit::Outcome,
    output::{Output, or_dash, table, time},
};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the environments, the oldest first
    #[command(after_help = "Examples:\n  tombolo hub environments list")]
    List,
    /// Let a runtime use a device; prints what its doors are opened with, once
    #[command(after_help = "\
A session that is made through the hub with `environment` gets one by itself.

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
        /// The session that it is for: it ends with it
        #[arg(long)]
        session: Option<SessionId>,
        /// The run that it is for
        #[arg(long)]
        run: Option<String>,
        /// The space that it is for
        #[arg(long)]
        scope: Option<String>,
        /// Only this of what is granted, such as `fileops`; may be repeated
        #[arg(long, value_parser = family)]
        only: Vec<Family>,
        /// Only this directory of what is granted; may be repeated
        #[arg(long)]
        root: Vec<RootId>,
        /// Who is asked before a method or a tool (`tool:NAME`), where that is stricter; may be repeated
        #[arg(long, value_name = "WHAT=APPROVAL", value_parser = ask)]
        ask: Vec<(String, Approval)>,
    },
    /// Say how an environment is
    #[command(after_help = "Examples:\n  tombolo hub environments get env_0198c0de0198c0de0198c0de0198c0de")]
    Get {
        /// The environment
        id: EnvironmentId,
    },
    /// End an environment, and what goes on in it
    #[command(
        after_help = "Examples:\n  tombolo hub environments remove env_0198c0de0198c0de0198c0de0198c0de"
    )]
    Remove {
        /// The environment
        id: EnvironmentId,
    },
}

fn family(text: &str) -> Result<Family, String> {
    let known = Family::ALL.into_iter().find(|family| family.as_str() == text);
    known.ok_or_else(|| "one of `fileops`, `shell`, `tools`, `resources`, `artifacts` and `computer`".into())
}

fn ask(text: &str) -> Result<(String, Approval), String> {
    let (what, who) = text.split_once('=').ok_or("a method or a tool, `=` and who is asked")?;
    Ok((what.to_owned(), approval(who)?))
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        let environments = hub.environments();
        match self {
            Verb::List => output.answer(&environments.list().await?, |list| view(list.items)),
            Verb::Add { runtime, device, session, run, scope, only, root, ask } => {
                let using = UseDevice {
                    client_id: device,
                    scope_id: scope,
                    capabilities: (!only.is_empty()).then_some(only),
                    roots: (!root.is_empty()).then_some(root),
                    approvals: ask.into_iter().collect(),
                };
                let add = AddEnvironment { runtime_id: runtime, session_id: session, run_id: run, using };
                output.answer(&environments.add(&add).await?, |added| {
                    format!("{}\n\nsecret, shown only now: {}", view(vec![added.environment]), added.secret)
                })
            }
            Verb::Get { id } => output.answer(&environments.get(id).await?, |it| view(vec![it])),
            Verb::Remove { id } => {
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
