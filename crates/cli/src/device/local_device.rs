//! A device of this machine: its name, its files and the hub that it was paired with.

use std::path::{Path, PathBuf};

use client::{Client, Endpoint, Token};
use device::{DeviceConfig, Home, Paired};
use protocol::relay::ClientId;
use secrecy::ExposeSecret;

use crate::{
    exit::{CommandError, local},
    secret, storage,
};

/// A device of this machine.
pub(super) struct LocalDevice {
    pub(super) client_id: ClientId,
    pub(super) home: Home,
}

impl LocalDevice {
    /// The device with this name.
    pub(super) fn named(client_id: ClientId, data_dir: Option<&Path>) -> Result<Self, CommandError> {
        let home = Home::of(&self::data_dir(data_dir)?, &client_id);
        Ok(Self { client_id, home })
    }

    /// The named device. Without a name it is the only device that has files here, or else the one named like the machine.
    pub(super) fn select(client_id: Option<ClientId>, data_dir: Option<&Path>) -> Result<Self, CommandError> {
        let client_id = match client_id {
            Some(named) => named,
            None => match Home::all(&self::data_dir(data_dir)?).as_slice() {
                [only] => only.clone(),
                _ => machine_name(),
            },
        };
        Self::named(client_id, data_dir)
    }

    /// A client for the device's hub, with its token.
    pub(super) fn hub_client(
        &self,
        config: &DeviceConfig,
        token_file: Option<&Path>,
    ) -> Result<Client, CommandError> {
        let given =
            secret::token(None, token_file, secret::DEVICE_TOKEN_VARIABLE).map_err(CommandError::Local)?;
        let paired = Paired::read(&self.home)
            .map_err(|error| local(&format!("read `{}`", self.home.paired().display()), error))?;
        let unpaired = || {
            let hub = config.hub.as_deref().unwrap_or("HUB");
            CommandError::Usage(format!(
                "device `{}` is not paired with this hub: run `tombolo device pair {hub}`, or pass --token-file",
                self.client_id
            ))
        };
        let hub = config.hub.clone().or_else(|| paired.as_ref().map(|paired| paired.hub.clone()));
        let endpoint = parse_endpoint(&hub.ok_or_else(unpaired)?)?;
        let token: Token = match given {
            Some(given) => given
                .expose_secret()
                .parse()
                .map_err(|error| CommandError::Usage(format!("the device token is invalid: {error}")))?,
            // The stored token belongs to one hub. Never send it to another one, even if the user names one.
            None => {
                let same_hub = |paired: &Paired| paired.hub.parse() == Ok(endpoint.clone());
                paired.filter(same_hub).ok_or_else(unpaired)?.token
            }
        };
        Ok(Client::new(endpoint, Some(&token))?)
    }
}

/// Parses the URL of a hub.
pub(super) fn parse_endpoint(hub: &str) -> Result<Endpoint, CommandError> {
    hub.parse().map_err(|error: client::InvalidEndpoint| {
        CommandError::Usage(format!("the hub URL `{hub}` is invalid: {error}"))
    })
}

fn data_dir(option: Option<&Path>) -> Result<PathBuf, CommandError> {
    storage::data_dir(option).map_err(CommandError::Local)
}

/// The host name, with characters that a device name must not contain replaced by `-`.
fn machine_name() -> ClientId {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy();
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .take(128)
        .collect();
    name.parse().unwrap_or_else(|_| {
        "device".parse().unwrap_or_else(|_| unreachable!("`device` is a valid device name"))
    })
}
