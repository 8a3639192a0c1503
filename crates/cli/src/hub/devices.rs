//! `tombolo hub devices`.

use clap::Subcommand;
use client::Client;
use jiff::{SignedDuration, Timestamp};
use protocol::{
    RuntimeId, Workspace,
    lending::{AddDevice, ConfirmPairing, Device, PairingRequest},
    relay::{Capabilities, ClientId, Family},
};

use super::{
    granted::{Granted, root_summary, summary},
    tokens::duration,
};
use crate::{
    exit::{Failure, Outcome},
    output::{Output, card, or_dash, table, time, yes_no},
};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the devices that are let in, by name
    #[command(after_help = "Examples:\n  tombolo hub devices list")]
    List,
    /// Let a device in, or one more copy of it; prints what it connects with, once
    #[command(after_help = "\
Where the device can show a code, `tombolo device pair` and `confirm` need no token to be copied.

Examples:
  tombolo hub devices add laptop > laptop.token
  tombolo device connect https://hub.example --token-file laptop.token --root main=~/code:rw")]
    Add {
        /// The name that it gets
        client_id: ClientId,
        /// The workspace that it is lent to
        #[arg(long, default_value_t)]
        workspace: Workspace,
        /// What people call it
        #[arg(long)]
        label: Option<String>,
        /// For how long it is let in, such as `30d` or `12h` [default: 30d]
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires_in: Option<SignedDuration>,
    },
    /// Say how a device is
    #[command(after_help = "Examples:\n  tombolo hub devices get laptop")]
    Get {
        /// The device
        client_id: ClientId,
    },
    /// Remove a device: it is cut off, and what was granted and made of it is gone
    #[command(after_help = "Examples:\n  tombolo hub devices remove laptop")]
    Remove {
        /// The device
        client_id: ClientId,
    },
    /// Stop a device in an emergency: it is cut off, and needs another token to come back
    #[command(after_help = "Examples:\n  tombolo hub devices stop laptop")]
    Stop {
        /// The device
        client_id: ClientId,
    },
    /// List the devices that want to be let in
    #[command(after_help = "Examples:\n  tombolo hub devices pairings")]
    Pairings,
    /// Let the device in that shows this code, and grant what is said
    #[command(after_help = "\
Examples:
  tombolo hub devices confirm KXQM-3F7P
  tombolo hub devices confirm KXQM-3F7P --runtime box --root main:rw --shell ask_once_per_run")]
    Confirm {
        /// What the device shows
        code: String,
        /// The workspace that it is lent to
        #[arg(long, default_value_t)]
        workspace: Workspace,
        /// A runtime that may use it; may be repeated
        #[arg(long)]
        runtime: Vec<RuntimeId>,
        /// For how long it is let in, such as `30d` or `12h` [default: 30d]
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        granted: Granted,
    },
    /// Do not let the device in that shows this code
    #[command(after_help = "Examples:\n  tombolo hub devices refuse KXQM-3F7P")]
    Refuse {
        /// What the device shows
        code: String,
    },
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        let devices = hub.devices();
        match self {
            Verb::List => output.answer(&devices.list().await?, |list| view(list.items)),
            Verb::Add { client_id, workspace, label, expires_in } => {
                let expires_at = until(expires_in)?;
                let add = AddDevice { client_id, workspace, label, instance_id: None, expires_at };
                let answer = devices.add(&add).await?;
                output.talk("shown only now; the device takes it with --token-file FILE");
                output.answer(&answer, |added| added.secret)
            }
            Verb::Get { client_id } => {
                output.answer(&devices.get(&client_id).await?, |device| view(vec![device]))
            }
            Verb::Remove { client_id } => {
                devices.remove(&client_id).await?;
                output.done(&format!("removed {client_id}"))
            }
            Verb::Stop { client_id } => {
                devices.stop(&client_id).await?;
                output.done(&format!("stopped {client_id}; it needs another token to come back"))
            }
            Verb::Pairings => output.answer(&devices.pairings().await?, |list| waiting(list.items)),
            Verb::Confirm { code, workspace, runtime, expires_in, granted } => {
                let expires_at = until(expires_in)?;
                let seen = devices.pairing(&code).await?.read()?;
                output.talk(&offered(&seen));
                let capabilities = granted.capabilities();
                let confirm = ConfirmPairing { workspace, expires_at, runtimes: runtime, capabilities };
                output.answer(&devices.confirm(&code, &confirm).await?, |confirmed| {
                    let grants: Vec<_> = confirmed
                        .grants
                        .iter()
                        .map(|grant| format!("granted {}: {}", grant.runtime_id, summary(grant)))
                        .collect();
                    [vec![view(vec![confirmed.device])], grants].concat().join("\n")
                })
            }
            Verb::Refuse { code } => {
                devices.refuse(&code).await?;
                output.done("the device is told that it is not let in")
            }
        }
    }
}

fn until(long: Option<SignedDuration>) -> Result<Option<Timestamp>, Failure> {
    let at = long.map(|long| Timestamp::now().saturating_add(long)).transpose();
    at.map_err(|error| Failure::Local(error.into()))
}

fn view(devices: Vec<Device>) -> String {
    let rows = devices.into_iter().map(|device| {
        let connection = device.connection.as_ref();
        let lends = connection.map(|it| {
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
            or_dash(lends),
            or_dash(roots),
            time(expires),
        ]
    });
    table(["NAME", "WORKSPACE", "LABEL", "CONNECTED", "LENDS", "ROOTS", "EXPIRES"], rows)
}

fn waiting(pairings: Vec<PairingRequest>) -> String {
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

fn families(offered: &Capabilities) -> String {
    offered.families().into_iter().map(Family::as_str).collect::<Vec<_>>().join(" ")
}

/// What a device would lend, for whoever lets it in.
fn offered(pairing: &PairingRequest) -> String {
    card([
        ("device", pairing.client_id.to_string()),
        ("label", or_dash(pairing.label.clone())),
        ("from", or_dash(pairing.peer)),
        ("offers", families(&pairing.capabilities)),
    ])
    .replace('\n', "; ")
}
