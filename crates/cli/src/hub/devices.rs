//! `tombolo hub devices`: devices and pairing requests.

use std::time::Duration;

use clap::Subcommand;
use client::Client;
use protocol::{
    RuntimeId, WorkspaceName,
    lending::{AddDeviceRequest, ConfirmPairingRequest, Device, PendingPairing},
    relay::{ClientId, DeviceCapabilities, Family},
};

use super::grant_args::{GrantArgs, root_summary, summary};
use crate::{
    duration::{self, VALUE_NAME},
    exit::CommandResult,
    output::{CommandOutput, card, or_dash, table, time, yes_no},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubDevicesCommand {
    /// List the devices of the hub, by name
    #[command(after_help = "Examples:\n  tombolo hub devices list")]
    List,
    /// Register a device, or another token for it, and print the token once
    #[command(after_help = "\
With `tombolo device pair` on the device and `tombolo hub devices confirm` here, no token has to be
copied.

Examples:
  tombolo hub devices add laptop > laptop.token
  tombolo device connect https://hub.example --token-file laptop.token --root main=~/code:rw")]
    Add {
        /// The name of the device; you choose it
        client_id: ClientId,
        /// Offer the device to this workspace
        #[arg(long, default_value_t)]
        workspace: WorkspaceName,
        /// Show this label to people
        #[arg(long)]
        label: Option<String>,
        /// Let the token expire after this long, for example 12h [default: 30d]
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        expires_in: Option<Duration>,
    },
    /// Show a device and its connection
    #[command(after_help = "Examples:\n  tombolo hub devices get laptop")]
    Get {
        /// The device
        client_id: ClientId,
    },
    /// Disconnect and remove a device, its grants and its environments
    #[command(after_help = "Examples:\n  tombolo hub devices remove laptop")]
    Remove {
        /// The device
        client_id: ClientId,
    },
    /// Disconnect a device at once and revoke its tokens; it needs a new token to reconnect
    #[command(after_help = "Examples:\n  tombolo hub devices stop laptop")]
    Stop {
        /// The device
        client_id: ClientId,
    },
    /// List the devices that wait for their pairing code to be confirmed
    #[command(after_help = "Examples:\n  tombolo hub devices pairings")]
    Pairings,
    /// Accept the device that shows this pairing code, and grant it to runtimes
    #[command(after_help = "\
Examples:
  tombolo hub devices confirm KXQM-3F7P
  tombolo hub devices confirm KXQM-3F7P --runtime box --root main:rw --shell ask_once_per_run")]
    Confirm {
        /// The pairing code that the device shows
        code: String,
        /// Offer the device to this workspace
        #[arg(long, default_value_t)]
        workspace: WorkspaceName,
        /// Let this runtime use the device; may be repeated
        #[arg(long)]
        runtime: Vec<RuntimeId>,
        /// Let the token expire after this long, for example 12h [default: 30d]
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        expires_in: Option<Duration>,
        #[command(flatten)]
        grant: GrantArgs,
    },
    /// Reject the device that shows this pairing code
    #[command(after_help = "Examples:\n  tombolo hub devices refuse KXQM-3F7P")]
    Refuse {
        /// The pairing code that the device shows
        code: String,
    },
}

impl RequestCommand for HubDevicesCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let devices = hub.devices();
        match self {
            HubDevicesCommand::List => output.answer(&devices.list().await?, |list| view(list.items)),
            HubDevicesCommand::Add { client_id, workspace, label, expires_in } => {
                let expires_at = expires_in.map(duration::from_now).transpose()?;
                let add = AddDeviceRequest { client_id, workspace, label, instance_id: None, expires_at };
                let answer = devices.add(&add).await?;
                output.print_note("this token is shown once: save it to a file and pass it to the device with --token-file FILE");
                output.answer(&answer, |added| added.secret)
            }
            HubDevicesCommand::Get { client_id } => {
                output.answer(&devices.get(&client_id).await?, |device| view(vec![device]))
            }
            HubDevicesCommand::Remove { client_id } => {
                devices.remove(&client_id).await?;
                output.done(&format!("removed {client_id}"))
            }
            HubDevicesCommand::Stop { client_id } => {
                devices.stop(&client_id).await?;
                output.done(&format!(
                    "stopped {client_id}: it needs a new token to reconnect, see `tombolo hub devices add`"
                ))
            }
            HubDevicesCommand::Pairings => {
                output.answer(&devices.pairings().await?, |list| pairings_table(list.items))
            }
            HubDevicesCommand::Confirm { code, workspace, runtime, expires_in, grant } => {
                let expires_at = expires_in.map(duration::from_now).transpose()?;
                let pairing = devices.pairing(&code).await?.read()?;
                output.print_note(&offered(&pairing));
                let capabilities = grant.capabilities();
                let confirm =
                    ConfirmPairingRequest { workspace, expires_at, runtimes: runtime, capabilities };
                output.answer(&devices.confirm(&code, &confirm).await?, |confirmed| {
                    let grants: Vec<_> = confirmed
                        .grants
                        .iter()
                        .map(|grant| format!("granted {}: {}", grant.runtime_id, summary(grant)))
                        .collect();
                    [vec![view(vec![confirmed.device])], grants].concat().join("\n")
                })
            }
            HubDevicesCommand::Refuse { code } => {
                devices.refuse(&code).await?;
                output.done("rejected the device")
            }
        }
    }
}

fn view(devices: Vec<Device>) -> String {
    let rows = devices.into_iter().map(|device| {
        let connection = device.connection.as_ref();
        let offers = connection.map(|it| {
            let families: Vec<_> = it.capabilities.iter().copied().map(Family::as_str).collect();
            families.join(" ")
        });
        let roots = connection.map(|it| it.roots.iter().map(root_summary).collect::<Vec<_>>().join(" "));
        let expires = device.tokens.iter().map(|token| token.expires_at).max();
        [
            device.client_id.to_string(),
            device.workspace.to_string(),
            or_dash(device.label),
            yes_no(connection.is_some()),
            or_dash(offers),
            or_dash(roots),
            time(expires),
        ]
    });
    table(["NAME", "WORKSPACE", "LABEL", "CONNECTED", "OFFERS", "ROOTS", "EXPIRES"], rows)
}

fn pairings_table(pairings: Vec<PendingPairing>) -> String {
    let rows = pairings.into_iter().map(|pairing| {
        [
            pairing.code,
            pairing.client_id.to_string(),
            or_dash(pairing.label),
            or_dash(pairing.peer),
            families(&pairing.capabilities),
            time(Some(pairing.expires_at)),
        ]
    });
    table(["CODE", "NAME", "LABEL", "FROM", "OFFERS", "EXPIRES"], rows)
}

fn families(offered: &DeviceCapabilities) -> String {
    offered.families().into_iter().map(Family::as_str).collect::<Vec<_>>().join(" ")
}

/// The name and offers of a device, for the user who confirms its pairing.
fn offered(pairing: &PendingPairing) -> String {
    card([
        ("device", pairing.client_id.to_string()),
        ("label", or_dash(pairing.label.clone())),
        ("from", or_dash(pairing.peer)),
        ("offers", families(&pairing.capabilities)),
    ])
    .replace('\n', "; ")
}
