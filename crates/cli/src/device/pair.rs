//! `tombolo device pair`: a short code instead of a token that is copied.

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
    lending::{BeginPairing, Claimed, PairedDevice, Pairing},
    relay::Capabilities,
};
use tokio::time::sleep;

use super::{
    connect::{Files, built},
    lend::LendOptions,
    owned::{self, Owned},
};
use crate::{
    exit::{self, Failure, Outcome, local},
    output::{Output, plain},
};

/// How often a hub may be asked, whatever it says.
const ASK_AGAIN_MIN: Duration = Duration::from_millis(200);
const ASK_AGAIN_MAX: Duration = Duration::from_secs(10);

/// Which device, and with which hub.
#[derive(Debug, Args)]
#[command(after_help = "\
It prints a short code and waits until somebody who may do so confirms it in the hub:
`tombolo hub devices confirm CODE`. They see what would be lent. The token that the hub makes then
is kept in the files of this device, for nobody but you.

Examples:
  tombolo device pair https://hub.example --root main=~/code:rw --shell
  tombolo device pair --config device.toml")]
pub(super) struct PairOptions {
    /// Where the hub is [default: the one that the file names]
    hub: Option<String>,
    #[command(flatten)]
    lend: LendOptions,
    /// Where the device keeps its own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
}

/// Waits until the device is let in.
pub(super) fn run(options: &PairOptions) -> ExitCode {
    let doing = format!("pairing with {}", options.hub.as_deref().unwrap_or("the hub"));
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::from)
        .and_then(|runtime| runtime.block_on(pair(options)));
    exit::report(outcome, false, &doing)
}

async fn pair(options: &PairOptions) -> Outcome {
    let output = Output { json: false };
    let config = options.lend.config(options.hub.as_deref())?;
    let hub = config.hub.as_deref().ok_or_else(|| Failure::Usage("which hub? say where it is".into()))?;
    let endpoint = owned::endpoint(hub)?;
    let Owned { client_id, home } = Owned::meant(config.client_id.clone(), options.data_dir.as_deref())?;
    home.create().map_err(|error| Failure::Local(error.into()))?;
    let offer = offer(&config, &home, options.lend.config.as_deref()).await?;
    let begin = BeginPairing {
        client_id,
        label: config.label.clone(),
        client_version: Some(env!("CARGO_PKG_VERSION").into()),
        capabilities: offer,
    };
    let pairing = Client::new(endpoint.clone(), None)?.devices().begin_pairing(&begin).await?.read()?;
    output.line(&plain(&pairing.code))?;
    output.talk(&format!(
        "confirm this code in the hub before {:.0}: tombolo hub devices confirm {}",
        pairing.expires_at, pairing.code
    ));
    let PairedDevice { client_id, workspace, token, .. } = claimed(&endpoint, &pairing).await?;
    let token = token.parse().map_err(|error| Failure::Local(anyhow::Error::new(error)))?;
    // Whoever confirmed it may have chosen another name.
    let home = match client_id == begin.client_id {
        true => home,
        false => Owned::named(client_id.clone(), options.data_dir.as_deref())?.home,
    };
    keep(
        &home,
        &Paired {
            hub: endpoint.to_string(),
            client_id: client_id.clone(),
            workspace: Some(workspace),
            token,
        },
    )?;
    output.done(&format!("paired as {client_id}; now `tombolo device connect` lends what you name"))
}

/// What would be lent.
async fn offer(config: &DeviceConfig, home: &Home, file: Option<&Path>) -> Result<Capabilities, Failure> {
    // It may run just now, and have the socket for tools.
    let without_socket = DeviceConfig { tool_socket: false, ..config.clone() };
    let files = Files { config: file, token: None };
    let mut offer = built(&without_socket, home, files, Consent::default(), None).await?.device.offer();
    if config.tool_socket {
        offer.tools.get_or_insert_default().enabled = true;
    }
    Ok(offer)
}

/// Asks until somebody has said yes or no, or it is too late.
async fn claimed(endpoint: &Endpoint, pairing: &Pairing) -> Result<PairedDevice, Failure> {
    let secret: Token =
        pairing.claim_secret.parse().map_err(|_| Failure::Usage("the hub gave no secret".into()))?;
    let hub = Client::new(endpoint.clone(), Some(&secret))?;
    let again = Duration::from_millis(pairing.poll_ms).clamp(ASK_AGAIN_MIN, ASK_AGAIN_MAX);
    loop {
        match hub.devices().claim().await {
            Ok(answer) => match answer.read()? {
                Claimed::Confirmed(device) => return Ok(device),
                Claimed::Waiting => {}
            },
            // The hub may be back before the code is void.
            Err(error @ client::Error::Transport(_)) if Timestamp::now() > pairing.expires_at => {
                return Err(error.into());
            }
            Err(client::Error::Transport(_)) => {}
            Err(error) => return Err(error.into()),
        }
        sleep(again).await;
    }
}

fn keep(home: &Home, paired: &Paired) -> Outcome {
    home.create().map_err(|error| Failure::Local(error.into()))?;
    paired.write(home).map_err(|error| local(&format!("write `{}`", home.paired().display()), error))
}
