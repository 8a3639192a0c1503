//! What is lent, to whom and on which terms: devices, grants and environments, in a file that only its owner can read.

mod state;

use std::{io, path::PathBuf, sync::Arc};

use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::{
    EnvironmentId, GrantId, WaitId, WorkspaceName,
    lending::CreateGrantRequest,
    relay::{ClientId, Grant},
};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::watch,
    task::block_in_place,
};

use crate::{json_file, registry::Identity, secret::NewToken};

pub(crate) use state::{DeviceEntry, EnvironmentEntry, GrantEntry, NewDevice, State, TokenEntry};

/// What the token of a device begins with.
const DEVICE_PREFIX: &str = "tombolo_dev_";

/// What the token of an environment begins with.
const ENVIRONMENT_PREFIX: &str = "tombolo_env_";

/// What is lent. A clone is the same.
#[derive(Clone)]
pub(crate) struct Store(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// One change at a time. It is written while everybody goes on with what was before.
    changing: Mutex<()>,
    state: watch::Sender<Arc<State>>,
}

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
        let state = State::from_kept(json_file::read(&path)?);
        let (changing, state) = (Mutex::new(()), watch::Sender::new(Arc::new(state)));
        Ok(Self(Arc::new(Inner { path, changing, state })))
    }

    /// What there is now.
    pub(crate) fn now(&self) -> Arc<State> {
        self.0.state.borrow().clone()
    }

    /// What there is now, and word of each change.
    pub(crate) fn follow(&self) -> watch::Receiver<Arc<State>> {
        self.0.state.subscribe()
    }

    /// Changes something once that is written down; nothing if it cannot be.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut State, Timestamp) -> Result<T, Error>,
    ) -> Result<T, Error> {
        waiting_for_the_disk(|| {
            let _one = self.0.changing.lock();
            let (mut next, now) = (State::clone(&self.now()), Timestamp::now());
            next.sweep(now);
            let done = change(&mut next, now)?;
            json_file::write(&self.0.path, &next.to_kept()).map_err(Error::File)?;
            self.0.state.send_replace(Arc::new(next));
            Ok(done)
        })
    }

    /// Lets a device in, or one more copy of it, and grants something of it: all of that, or nothing.
    pub(crate) fn add_device(
        &self,
        new: NewDevice,
        grants: Vec<(CreateGrantRequest, Identity)>,
    ) -> Result<(Added, NewToken), Error> {
        let token = NewToken::mint(DEVICE_PREFIX).map_err(Error::File)?;
        let added = self.change(|state, now| {
            let (device, token) = state.add_device(new, token.digest(), now)?;
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

/// Does what waits for the disk so that no other task of this thread does.
fn waiting_for_the_disk<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        // There is no other thread that could go on with them.
        _ => work(),
    }
}

#[cfg(test)]
mod tests;
