//! Which device this is, and what it was paired with.

use std::path::{Path, PathBuf};

use client::{Client, Endpoint, Token};
use device::{DeviceConfig, Home, Paired};
use protocol::relay::ClientId;

use crate::{
    exit::{Failure, local},
    secret, storage,
};

/// A device of this machine.
pub(super) struct Owned {
    pub(super) client_id: ClientId,
    pub(super) home: Home,
}

/// A device, and the hub that it is for.
pub(super) struct Bound {
    pub(super) device: Owned,
    pub(super) hub: Client,
}

impl Owned {
    /// The device of this name.
    pub(super) fn named(client_id: ClientId, data_dir: Option<&Path>) -> Result<Self, Failure> {
        let home = Home::of(&directory(data_dir)?, &client_id);
        Ok(Self { client_id, home })
    }

    /// The device that is meant when none is named: the only one that there is, or the one that is called as the machine.
    pub(super) fn meant(client_id: Option<ClientId>, data_dir: Option<&Path>) -> Result<Self, Failure> {
        let client_id = match client_id {
            Some(named) => named,
            None => match Home::all(&directory(data_dir)?).as_slice() {
                [only] => only.clone(),
                _ => machine(),
            },
        };
        Self::named(client_id, data_dir)
    }

    /// The hub that the device is for, with the token that lets it in there.
    pub(super) fn bound(self, config: &DeviceConfig, token_file: Option<&Path>) -> Result<Bound, Failure> {
        let given = secret::token(None, token_file, secret::DEVICE_TOKEN_VARIABLE).map_err(Failure::Local)?;
        let paired = Paired::read(&self.home)
            .map_err(|error| local(&format!("read `{}`", self.home.paired().display()), error))?;
        let unpaired = || {
            let hub = config.hub.as_deref().unwrap_or("HUB");
            Failure::Usage(format!(
                "`{}` was not paired with this hub: run `tombolo device pair {hub}`, or say --token-file",
                self.client_id
            ))
        };
        let hub = config.hub.clone().or_else(|| paired.as_ref().map(|paired| paired.hub.clone()));
        let endpoint = endpoint(&hub.ok_or_else(unpaired)?)?;
        let token: Token = match given {
            Some(given) => {
                given.reveal().parse().map_err(|error| Failure::Usage(format!("the token: {error}")))?
            }
            // A token is for its hub: no other is ever shown it.
            None => {
                let same = |paired: &Paired| paired.hub.parse() == Ok(endpoint.clone());
                paired.filter(same).ok_or_else(unpaired)?.token
            }
        };
        Ok(Bound { hub: Client::new(endpoint, Some(&token))?, device: self })
    }
}

/// Where a hub is.
pub(super) fn endpoint(hub: &str) -> Result<Endpoint, Failure> {
    hub.parse().map_err(|error: client::InvalidEndpoint| Failure::Usage(format!("the hub `{hub}`: {error}")))
}

fn directory(said: Option<&Path>) -> Result<PathBuf, Failure> {
    storage::data_dir(said).map_err(Failure::Local)
}

/// The name of this machine, as far as it can be that of a device.
fn machine() -> ClientId {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy();
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .take(128)
        .collect();
    name.parse().unwrap_or_else(|_| "device".parse().unwrap_or_else(|_| unreachable!("the name of a device")))
}
