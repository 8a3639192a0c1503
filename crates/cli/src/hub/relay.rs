//! `tombolo hub relay`: the state of the relay, and switches for it.

use clap::Subcommand;
use client::Client;
use protocol::{
    WaitId, WorkspaceName,
    lending::{DeviceStatus, RelayStatus},
    relay::Family,
};

use super::{
    environments,
    grant_args::{root_summary, wire_name},
};
use crate::{
    exit::CommandResult,
    output::{CommandOutput, or_dash, table, time},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubRelayCommand {
    /// Show the connected devices, environments, open approvals, last errors and the head of the audit chain
    #[command(after_help = "Examples:\n  tombolo hub relay status")]
    Status,
    /// Allow the devices of a workspace to be used again
    #[command(after_help = "Examples:\n  tombolo hub relay enable lab")]
    Enable {
        /// The workspace
        workspace: WorkspaceName,
    },
    /// Disconnect all devices of a workspace and refuse new connections
    #[command(after_help = "Examples:\n  tombolo hub relay disable lab")]
    Disable {
        /// The workspace
        workspace: WorkspaceName,
    },
    /// Revoke an approval that was given for more than one request
    #[command(after_help = "Examples:\n  tombolo hub relay forget wat_0198c0de0198c0de0198c0de0198c0de")]
    Forget {
        /// The id of the approval, from `tombolo hub relay status`
        id: WaitId,
    },
}

impl RequestCommand for HubRelayCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let relay = hub.relay();
        match self {
            HubRelayCommand::Status => output.answer(&relay.status().await?, view),
            HubRelayCommand::Enable { workspace } => {
                relay.set_enabled(&workspace, true).await?;
                output.done(&format!("enabled the devices of workspace {workspace}"))
            }
            HubRelayCommand::Disable { workspace } => {
                relay.set_enabled(&workspace, false).await?;
                output.done(&format!("disabled the devices of workspace {workspace}"))
            }
            HubRelayCommand::Forget { id } => {
                relay.forget(id).await?;
                output.done(&format!("revoked approval {id}"))
            }
        }
    }
}

fn view(status: RelayStatus) -> String {
    let mut parts = vec![table(
        ["DEVICE", "CONNECTION", "SINCE", "OFFERS", "ROOTS", "LATENCY", "PENDING", "STATE", "LAST ERROR"],
        status.devices.iter().map(device),
    )];
    if !status.environments.is_empty() {
        let pending: u64 = status.environments.iter().map(|it| it.pending_requests).sum();
        parts.push(environments::view(status.environments.into_iter().map(|it| it.environment).collect()));
        parts.push(format!("{pending} requests are running"));
    }
    if !status.remembered_approvals.is_empty() {
        let rows = status.remembered_approvals.into_iter().map(|it| {
            let (environment, run) = (or_dash(it.environment_id), or_dash(it.run_id));
            let (id, device, by) = (it.id.to_string(), it.client_id.to_string(), it.author.to_string());
            [id, device, it.operation, it.scope_id, environment, run, by]
        });
        parts.push(table(["APPROVAL", "DEVICE", "REQUEST", "SCOPE", "ENVIRONMENT", "RUN", "BY"], rows));
    }
    let off: Vec<_> = status.disabled_workspaces.iter().map(WorkspaceName::as_str).collect();
    parts.push(format!(
        "open waits: {}; policy version: {}; disabled workspaces: {}",
        status.waits.len(),
        status.policy_version,
        if off.is_empty() { "none".into() } else { off.join(" ") },
    ));
    parts.push(format!("audit head: {} {}", or_dash(status.audit_head.seq), or_dash(status.audit_head.hash)));
    parts.join("\n\n")
}

fn device(status: &DeviceStatus) -> [String; 9] {
    let connection = &status.connection;
    let families: Vec<_> = connection.capabilities.iter().copied().map(Family::as_str).collect();
    let roots: Vec<_> = connection.roots.iter().map(root_summary).collect();
    let states = status
        .capability_states
        .iter()
        .map(|it| format!("{}={}", it.capability.as_str(), wire_name(&it.state)));
    let paused = connection.is_paused.then(|| "paused".to_owned());
    let states: Vec<_> = paused.into_iter().chain(states).collect();
    let error = status.errors.first().map(|call| {
        format!("{}: {}", call.method, call.error.map_or("-", protocol::relay::RelayErrorCode::as_str))
    });
    [
        status.client_id.to_string(),
        connection.connection_id.clone(),
        time(Some(connection.connected_at)),
        families.join(" "),
        roots.join(" "),
        or_dash(connection.latency_us.map(|us| format!("{us} µs"))),
        status.pending_requests.to_string(),
        or_dash((!states.is_empty()).then(|| states.join(" "))),
        or_dash(error),
    ]
}
