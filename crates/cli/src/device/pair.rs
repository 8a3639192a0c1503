//! `tombolo device pair`: get a device token by confirming a short code at the hub, instead of copying it by hand.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use client::{Client, Endpoint, Token};
use device::{Consent, DeviceConfig, Home, Paired};
use jiff::Timestamp;
use protocol::{
    lending::{PairedDevice, PairingClaim, PairingStarted, StartPairingRequest},
    relay::DeviceCapabilities,
};
use tokio::time::sleep;

use super::{
    connect::{ExternalFiles, build_device},
    lend_options::LendOptions,
    local_device::{LocalDevice, parse_endpoint},
};
use crate::{
    exit::{self, CommandError, CommandResult, local},
    output::{CommandOutput, plain},
};

/// Bounds for the poll interval that the hub suggests.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(200);
const POLL_INTERVAL_MAX: Duration = Duration::from_secs(10);

/// Pair this machine with a hub, by a short code that is confirmed there
#[derive(Debug, Args)]
#[command(after_help = "\
Prints a short code and waits until a user with permission confirms it at the hub with
`tombolo hub devices confirm CODE`. That user sees what the device would lend. The device token is
stored in a private file of this device.

Examples:
  tombolo device pair https://hub.example --root main=~/code:rw --shell
  tombolo device pair --config device.toml")]
pub(super) struct PairOptions {
    /// URL of the hub [default: the one in the configuration file]
    hub: Option<String>,
    #[command(flatten)]
    lend: LendOptions,
    /// Directory for the device's own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
}

/// Waits until the device is paired.
pub(super) fn run(options: &PairOptions) -> ExitCode {
    let doing = format!("pairing with {}", options.hub.as_deref().unwrap_or("the hub"));
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CommandError::from)
        .and_then(|runtime| runtime.block_on(pair(options)));
    exit::report(outcome, false, &doing)
}

async fn pair(options: &PairOptions) -> CommandResult {
    let output = CommandOutput { json: false };
    let config = options.lend.config(options.hub.as_deref())?;
    let hub = config.hub.as_deref().ok_or_else(|| {
        CommandError::Usage("no hub is named: pass its URL, or set `hub` in the configuration file".into())
    })?;
    let endpoint = parse_endpoint(hub)?;
    let LocalDevice { client_id, home } =
        LocalDevice::select(config.client_id.clone(), options.data_dir.as_deref())?;
    home.create().map_err(|error| CommandError::Local(error.into()))?;
    let offer = offer(&config, &home, options.lend.config.as_deref()).await?;
    let begin = StartPairingRequest {
        client_id,
        label: config.label.clone(),
        client_version: Some(env!("CARGO_PKG_VERSION").into()),
        capabilities: offer,
    };
    let pairing = Client::new(endpoint.clone(), None)?.devices().begin_pairing(&begin).await?.read()?;
    output.line(&plain(&pairing.code))?;
    output.print_note(&format!(
        "confirm this code at the hub before {:.0}: tombolo hub devices confirm {}",
        pairing.expires_at, pairing.code
    ));
    let PairedDevice { client_id, workspace, token, .. } = wait_for_confirmation(&endpoint, &pairing).await?;
    let token = token.parse().map_err(|error| CommandError::Local(anyhow::Error::new(error)))?;
    // The user who confirmed the code may have chosen another name for the device.
    let home = if client_id == begin.client_id {
        home
    } else {
        LocalDevice::named(client_id.clone(), options.data_dir.as_deref())?.home
    };
    store_pairing(
        &home,
        &Paired {
            hub: endpoint.to_string(),
            client_id: client_id.clone(),
            workspace: Some(workspace),
            token,
        },
    )?;
    output.done(&format!("paired as {client_id}; start lending with `tombolo device connect`"))
}

/// The capabilities that the device would offer, for the user who confirms the code.
async fn offer(
    config: &DeviceConfig,
    home: &Home,
    file: Option<&Path>,
) -> Result<DeviceCapabilities, CommandError> {
    // The device may already be running and own the tool socket, so do not open it here.
    let without_socket = DeviceConfig { tool_socket: false, ..config.clone() };
    let files = ExternalFiles { config: file, token: None };
    let mut offer =
        build_device(&without_socket, home, files, Consent::default(), None).await?.device.offer();
    if config.tool_socket {
        offer.tools.get_or_insert_default().enabled = true;
    }
    Ok(offer)
}

/// Polls the hub until a user has confirmed or rejected the code, or it has expired.
async fn wait_for_confirmation(
    endpoint: &Endpoint,
    pairing: &PairingStarted,
) -> Result<PairedDevice, CommandError> {
    let secret: Token = pairing.claim_secret.parse().map_err(|_| {
        CommandError::Usage(
            "the hub returned an invalid pairing secret; is this the URL of a Tombolo hub?".into(),
        )
    })?;
    let hub = Client::new(endpoint.clone(), Some(&secret))?;
    let poll_interval =
        Duration::from_millis(pairing.poll_interval_ms).clamp(POLL_INTERVAL_MIN, POLL_INTERVAL_MAX);
    loop {
        match hub.devices().claim().await {
            Ok(answer) => match answer.read()? {
                PairingClaim::Confirmed(device) => return Ok(device),
                PairingClaim::Waiting => {}
            },
            // Keep polling through an outage: the hub may return before the code expires.
            Err(error @ client::Error::Transport(_)) if Timestamp::now() > pairing.expires_at => {
                return Err(error.into());
            }
            Err(client::Error::Transport(_)) => {}
            Err(error) => return Err(error.into()),
        }
        sleep(poll_interval).await;
    }
}

fn store_pairing(home: &Home, paired: &Paired) -> CommandResult {
    home.create().map_err(|error| CommandError::Local(error.into()))?;
    paired.write(home).map_err(|error| local(&format!("write `{}`", home.paired().display()), error))
}
