//! What is lent, to whom and on which terms: devices, grants and environments, in a file that only its owner can read.

mod state;

use std::{io, path::PathBuf, sync::Arc};

use hub_access::{NewToken, StateFile};
use jiff::Timestamp;
use protocol::{
    EnvironmentId, GrantId, WaitId, WorkspaceName,
    lending::CreateGrantRequest,
    relay::{ClientId, Grant},
};
use tokio::sync::watch;

use crate::registry::Identity;

pub(crate) use state::{DeviceEntry, EnvironmentEntry, GrantEntry, NewDevice, State, TokenEntry};

/// What the token of a device begins with.
const DEVICE_PREFIX: &str = "tombolo_dev_";

/// What the token of an environment begins with.
const ENVIRONMENT_PREFIX: &str = "tombolo_env_";

/// What is lent. A clone is the same.
#[derive(Clone)]
pub(crate) struct Store(StateFile<State>);

/// A device that was let in.
pub(crate) struct Added {
    pub(crate) device: Arc<DeviceEntry>,
    pub(crate) token: TokenEntry,
    pub(crate) grants: Vec<Grant>,
}

/// Why something cannot be lent, or not so.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("could not write the relay state")]
    File(#[source] io::Error),
    #[error("device `{0}` does not exist")]
    NoDevice(ClientId),
    #[error("device `{0}` already exists in another workspace; choose another name")]
    DeviceTaken(ClientId),
    #[error("grant {0} does not exist")]
    NoGrant(GrantId),
    #[error("environment {0} does not exist")]
    NoEnvironment(EnvironmentId),
    #[error("approval {0} does not exist")]
    NotRemembered(WaitId),
    #[error("the limit of {max} {what} is reached; remove some first")]
    Full { what: &'static str, max: usize },
    #[error("{0}")]
    Invalid(&'static str),
}

impl Store {
    /// Reads the file, if there is one.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        StateFile::open(path).map(Self)
    }

    /// What there is now.
    pub(crate) fn now(&self) -> Arc<State> {
        self.0.now()
    }

    /// What there is now, and word of each change.
    pub(crate) fn follow(&self) -> watch::Receiver<Arc<State>> {
        self.0.follow()
    }

    /// Changes something once that is written down; nothing if it cannot be.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut State, Timestamp) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.0.change(Error::File, change)
    }

    /// Lets a device in, or one more copy of it.
    pub(crate) fn add_device(&self, new: NewDevice) -> Result<(Added, NewToken), Error> {
        let token = NewToken::mint(DEVICE_PREFIX).map_err(Error::File)?;
        let added = self.change(|state, now| {
            let (device, token) = state.add_device(new, token.digest(), now)?;
            Ok(Added { device, token, grants: Vec::new() })
        })?;
        Ok((added, token))
    }

    /// Lets a device in that was paired, and grants something of it: all of that, or nothing. It has only these grants, even if
    /// another device had its name before. The tokens of that device are revoked: it may be another machine, which could return
    /// under the name and with the grants of this one.
    pub(crate) fn pair_device(
        &self,
        new: NewDevice,
        grants: Vec<(CreateGrantRequest, Identity)>,
    ) -> Result<(Added, NewToken), Error> {
        let token = NewToken::mint(DEVICE_PREFIX).map_err(Error::File)?;
        let added = self.change(|state, now| {
            let client_id = new.client_id.clone();
            if state.device(&client_id).is_ok_and(|device| device.workspace == new.workspace) {
                state.stop_device(&client_id)?;
            }
            let (device, token) = state.add_device(new, token.digest(), now)?;
            state.take_back_grants(&client_id);
            let grants = grants.into_iter().map(|(add, runtime)| state.add_grant(add, runtime, now));
            Ok(Added { device, token, grants: grants.collect::<Result<_, _>>()? })
        })?;
        Ok((added, token))
    }

    /// Makes an environment; the rest of its entry is there.
    pub(crate) fn add_environment(
        &self,
        entry: impl FnOnce(String) -> EnvironmentEntry,
    ) -> Result<(Arc<EnvironmentEntry>, NewToken), Error> {
        let token = NewToken::mint(ENVIRONMENT_PREFIX).map_err(Error::File)?;
        let entry = entry(token.digest());
        Ok((self.change(|state, _| state.add_environment(entry))?, token))
    }

    /// Whether devices are lent in a workspace.
    pub(crate) fn set_enabled(&self, workspace: &WorkspaceName, enabled: bool) -> Result<(), Error> {
        self.change(|state, _| {
            state.set_enabled(workspace, enabled);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
