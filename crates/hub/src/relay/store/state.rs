//! All that is lent at one moment, and what can be done to it. Nothing here waits or writes.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use hub_access::StoredState;
use jiff::{SignedDuration, Timestamp};
use protocol::{
    EnvironmentId, GrantId, RuntimeId, SessionId, TokenId, UserName, WaitId, WorkspaceName,
    lending::{ApprovalRules, CreateGrantRequest, DeviceToken, RememberedApproval},
    relay::{ClientId, Family, Grant, RootId},
};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::registry::Identity;

/// How many of each there can be; the file is written whole.
const DEVICES_MAX: usize = 10_000;
const GRANTS_MAX: usize = 20_000;
const ENVIRONMENTS_MAX: usize = 10_000;
const REMEMBERED_MAX: usize = 10_000;

/// Names that routes have beside those of devices.
const RESERVED: [&str; 1] = ["pairings"];

/// How many copies of a device can be let in.
const TOKENS_MAX: usize = 16;

/// How long a device is let in unless something else is said, and at most.
const TOKEN_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);
const TOKEN_AGE_MAX: SignedDuration = SignedDuration::from_hours(366 * 24);

/// How long a text that somebody chose may be: names of copies and of spaces, labels.
const TEXT_BYTES_MAX: usize = 256;

/// All that is lent at one moment.
#[derive(Clone, Default)]
pub(crate) struct State {
    /// How often it has changed who may use what.
    version: u64,
    devices: BTreeMap<ClientId, Arc<DeviceEntry>>,
    /// Which device each token lets in.
    digests: HashMap<String, ClientId>,
    grants: BTreeMap<GrantId, Arc<GrantEntry>>,
    off: BTreeSet<WorkspaceName>,
    environments: BTreeMap<EnvironmentId, Arc<EnvironmentEntry>>,
    remembered: BTreeMap<WaitId, Arc<RememberedApproval>>,
}

/// A device that may connect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeviceEntry {
    pub(crate) client_id: ClientId,
    pub(crate) workspace: WorkspaceName,
    pub(crate) label: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) created_by: UserName,
    pub(crate) tokens: Vec<TokenEntry>,
}

/// What lets one copy of it in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenEntry {
    #[serde(flatten)]
    pub(crate) token: DeviceToken,
    digest: String,
}

/// What a session uses of a device.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentEntry {
    pub(crate) id: EnvironmentId,
    pub(crate) client_id: ClientId,
    pub(crate) runtime_id: RuntimeId,
    /// Which runtime that is; one of which that is not known is none.
    #[serde(default)]
    pub(crate) runtime: Option<Identity>,
    pub(crate) workspace: WorkspaceName,
    pub(crate) scope_id: Option<String>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) run_id: Option<String>,
    pub(crate) capabilities: Option<Vec<Family>>,
    pub(crate) roots: Option<Vec<RootId>>,
    pub(crate) approvals: ApprovalRules,
    pub(crate) created_at: Timestamp,
    pub(crate) created_by: UserName,
    /// When it ends by itself.
    #[serde(default)]
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) digest: String,
}

impl EnvironmentEntry {
    /// Whether its time is over.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// What is granted, and to which runtime of that name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GrantEntry {
    #[serde(flatten)]
    pub(crate) grant: Grant,
    /// One of which that is not known is none.
    #[serde(default)]
    pub(crate) runtime: Option<Identity>,
}

/// A device that is to be let in.
pub(crate) struct NewDevice {
    pub(crate) client_id: ClientId,
    pub(crate) workspace: WorkspaceName,
    pub(crate) label: Option<String>,
    pub(crate) instance_id: Option<String>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) by: UserName,
}

/// All of it as the file has it.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Kept {
    version: u64,
    devices: Vec<DeviceEntry>,
    grants: Vec<GrantEntry>,
    workspaces_off: BTreeSet<WorkspaceName>,
    environments: Vec<EnvironmentEntry>,
    remembered: Vec<RememberedApproval>,
}

impl StoredState for State {
    type Content = Kept;

    fn from_content(kept: Kept) -> Self {
        let mut state = Self { version: kept.version, off: kept.workspaces_off, ..Self::default() };
        for device in kept.devices {
            state.put(Arc::new(device));
        }
        let named = |entry: GrantEntry| Some((entry.grant.grant_id.parse().ok()?, Arc::new(entry)));
        state.grants = kept.grants.into_iter().filter_map(named).collect();
        state.environments = kept.environments.into_iter().map(|entry| (entry.id, Arc::new(entry))).collect();
        state.remembered = kept.remembered.into_iter().map(|it| (it.id, Arc::new(it))).collect();
        state
    }

    fn to_content(&self) -> Kept {
        Kept {
            version: self.version,
            devices: values(&self.devices),
            grants: values(&self.grants),
            workspaces_off: self.off.clone(),
            environments: values(&self.environments),
            remembered: values(&self.remembered),
        }
    }

    /// Forgets what is no good any more.
    fn sweep(&mut self, now: Timestamp) {
        let ended = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        self.grants.retain(|_, entry| !ended(entry.grant.expires_at));
        self.environments.retain(|_, entry| !ended(entry.expires_at));
        let stale: Vec<_> = self
            .devices
            .values()
            .filter(|device| device.tokens.iter().any(|token| token.token.expires_at <= now))
            .cloned()
            .collect();
        for device in stale {
            self.digests.retain(|_, of| *of != device.client_id);
            let mut device = DeviceEntry::clone(&device);
            device.tokens.retain(|token| token.token.expires_at > now);
            self.put(Arc::new(device));
        }
    }
}

impl State {
    /// How often it has changed who may use what.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn devices(&self) -> impl Iterator<Item = &Arc<DeviceEntry>> {
        self.devices.values()
    }

    pub(crate) fn device(&self, id: &ClientId) -> Result<&Arc<DeviceEntry>, Error> {
        self.devices.get(id).ok_or_else(|| Error::NoDevice(id.clone()))
    }

    /// The device that a token of this digest lets in, and the token, if it is good.
    pub(crate) fn find(&self, digest: &str, now: Timestamp) -> Option<(&Arc<DeviceEntry>, &TokenEntry)> {
        let device = self.devices.get(self.digests.get(digest)?)?;
        let token = device.tokens.iter().find(|token| token.digest == digest)?;
        (token.token.expires_at > now).then_some((device, token))
    }

    /// Whether the token of a device is still good.
    pub(crate) fn is_good(&self, device: &ClientId, token: TokenId, now: Timestamp) -> bool {
        let tokens = self.devices.get(device).into_iter().flat_map(|device| &device.tokens);
        tokens.into_iter().any(|entry| entry.token.id == token && entry.token.expires_at > now)
    }

    pub(super) fn add_device(
        &mut self,
        new: NewDevice,
        digest: String,
        now: Timestamp,
    ) -> Result<(Arc<DeviceEntry>, TokenEntry), Error> {
        let NewDevice { client_id, workspace, label, instance_id, expires_at, by } = new;
        if RESERVED.contains(&client_id.as_str()) {
            return Err(Error::Invalid("the name is reserved"));
        }
        check_text(label.as_deref())?;
        check_text(instance_id.as_deref())?;
        let expires_at = expires_at.unwrap_or(now + TOKEN_AGE);
        if expires_at <= now || expires_at > now + TOKEN_AGE_MAX {
            return Err(Error::Invalid("`expiresAt` must be in the future, at most 366 days from now"));
        }
        let mut device = match self.devices.get(&client_id) {
            Some(device) if device.workspace != workspace => return Err(Error::DeviceTaken(client_id)),
            Some(device) => DeviceEntry::clone(device),
            None if self.devices.len() >= DEVICES_MAX => {
                return Err(Error::Full { what: "devices", max: DEVICES_MAX });
            }
            None => {
                let (created_at, created_by) = (now, by);
                DeviceEntry { client_id, workspace, label: None, created_at, created_by, tokens: Vec::new() }
            }
        };
        if device.tokens.len() >= TOKENS_MAX {
            return Err(Error::Full { what: "tokens of this device", max: TOKENS_MAX });
        }
        let id = TokenId::mint();
        let instance_id = instance_id.unwrap_or_else(|| id.to_string());
        let token =
            TokenEntry { token: DeviceToken { id, instance_id, created_at: now, expires_at }, digest };
        device.label = label.or(device.label);
        device.tokens.push(token.clone());
        let device = Arc::new(device);
        self.put(Arc::clone(&device));
        Ok((device, token))
    }

    /// The device is not known any more, nor is anything that was granted or made of it.
    pub(crate) fn remove_device(&mut self, id: &ClientId) -> Result<(), Error> {
        self.stop_device(id)?;
        self.devices.remove(id);
        self.grants.retain(|_, entry| entry.grant.client_id != *id);
        self.environments.retain(|_, entry| entry.client_id != *id);
        self.remembered.retain(|_, it| it.client_id != *id);
        Ok(())
    }

    /// Takes back all that was granted or made of a device, if there is one. A device that is paired under the name of an
    /// earlier one may be another machine, which must not inherit what was lent to the agents of the earlier one.
    pub(super) fn take_back_grants(&mut self, id: &ClientId) {
        let before = self.grants.len() + self.environments.len() + self.remembered.len();
        self.grants.retain(|_, entry| entry.grant.client_id != *id);
        self.environments.retain(|_, entry| entry.client_id != *id);
        self.remembered.retain(|_, it| it.client_id != *id);
        let after = self.grants.len() + self.environments.len() + self.remembered.len();
        self.version += u64::from(after < before);
    }

    /// The device is not let in any more until it gets another token.
    pub(crate) fn stop_device(&mut self, id: &ClientId) -> Result<(), Error> {
        let device = DeviceEntry { tokens: Vec::new(), ..DeviceEntry::clone(self.device(id)?) };
        self.digests.retain(|_, of| of != id);
        self.put(Arc::new(device));
        self.version += 1;
        Ok(())
    }

    fn put(&mut self, device: Arc<DeviceEntry>) {
        let digests = device.tokens.iter().map(|token| (token.digest.clone(), device.client_id.clone()));
        self.digests.extend(digests);
        self.devices.insert(device.client_id.clone(), device);
    }

    /// Every grant that is good, the oldest first.
    pub(crate) fn grants(&self, now: Timestamp) -> impl Iterator<Item = &Arc<GrantEntry>> {
        self.grants.values().filter(move |entry| entry.grant.expires_at.is_none_or(|at| at > now))
    }

    pub(crate) fn grant(&self, id: GrantId) -> Result<&Grant, Error> {
        self.grants.get(&id).map(|entry| &entry.grant).ok_or(Error::NoGrant(id))
    }

    pub(crate) fn add_grant(
        &mut self,
        add: CreateGrantRequest,
        runtime: Identity,
        now: Timestamp,
    ) -> Result<Grant, Error> {
        let CreateGrantRequest { client_id, runtime_id, scope_id, capabilities, expires_at } = add;
        self.device(&client_id)?;
        check_text(scope_id.as_deref())?;
        if expires_at.is_some_and(|at| at <= now) {
            return Err(Error::Invalid("`expiresAt` must be in the future"));
        }
        if self.grants.len() >= GRANTS_MAX {
            return Err(Error::Full { what: "grants", max: GRANTS_MAX });
        }
        let id = GrantId::mint();
        let (grant_id, created_at) = (id.to_string(), now);
        let grant = Grant { grant_id, client_id, runtime_id, scope_id, capabilities, expires_at, created_at };
        self.grants.insert(id, Arc::new(GrantEntry { grant: grant.clone(), runtime: Some(runtime) }));
        self.version += 1;
        Ok(grant)
    }

    /// Takes those grants back.
    pub(crate) fn end_grants(&mut self, ends: impl Fn(&GrantEntry) -> bool) {
        let before = self.grants.len();
        self.grants.retain(|_, entry| !ends(entry));
        self.version += u64::from(self.grants.len() < before);
    }

    pub(crate) fn remove_grant(&mut self, id: GrantId) -> Result<(), Error> {
        self.grants.remove(&id).ok_or(Error::NoGrant(id))?;
        self.version += 1;
        Ok(())
    }

    /// Whether devices are lent in a workspace.
    pub(crate) fn is_enabled(&self, workspace: &WorkspaceName) -> bool {
        !self.off.contains(workspace)
    }

    pub(crate) fn workspaces_off(&self) -> impl Iterator<Item = &WorkspaceName> {
        self.off.iter()
    }

    pub(super) fn set_enabled(&mut self, workspace: &WorkspaceName, enabled: bool) {
        let changes = if enabled { self.off.remove(workspace) } else { self.off.insert(workspace.clone()) };
        self.version += u64::from(changes);
    }

    pub(crate) fn environments(&self) -> impl Iterator<Item = &Arc<EnvironmentEntry>> {
        self.environments.values()
    }

    pub(crate) fn environment(&self, id: EnvironmentId) -> Result<&Arc<EnvironmentEntry>, Error> {
        self.environments.get(&id).ok_or(Error::NoEnvironment(id))
    }

    pub(super) fn add_environment(
        &mut self,
        entry: EnvironmentEntry,
    ) -> Result<Arc<EnvironmentEntry>, Error> {
        check_text(entry.scope_id.as_deref())?;
        check_text(entry.run_id.as_deref())?;
        if self.environments.len() >= ENVIRONMENTS_MAX {
            return Err(Error::Full { what: "environments", max: ENVIRONMENTS_MAX });
        }
        let entry = Arc::new(entry);
        self.environments.insert(entry.id, Arc::clone(&entry));
        Ok(entry)
    }

    /// Ends those environments; how many there were.
    pub(crate) fn end_environments(&mut self, ends: impl Fn(&EnvironmentEntry) -> bool) -> usize {
        let before = self.environments.len();
        self.environments.retain(|_, entry| !ends(entry));
        before - self.environments.len()
    }

    pub(crate) fn remembered(&self) -> impl Iterator<Item = &Arc<RememberedApproval>> {
        self.remembered.values()
    }

    /// What was approved for more than once; the oldest makes room.
    pub(crate) fn remember(&mut self, approved: RememberedApproval) {
        if self.remembered.len() >= REMEMBERED_MAX {
            self.remembered.pop_first();
        }
        self.remembered.insert(approved.id, Arc::new(approved));
    }

    /// From now on somebody is asked again.
    pub(crate) fn forget(&mut self, id: WaitId) -> Result<Arc<RememberedApproval>, Error> {
        self.remembered.remove(&id).ok_or(Error::NotRemembered(id))
    }

    /// When the next token, grant or environment ends.
    pub(crate) fn next_end(&self, now: Timestamp) -> Option<Timestamp> {
        let tokens = self.devices.values().flat_map(|device| &device.tokens).map(|it| it.token.expires_at);
        let grants = self.grants.values().filter_map(|entry| entry.grant.expires_at);
        let environments = self.environments.values().filter_map(|entry| entry.expires_at);
        tokens.chain(grants).chain(environments).filter(|at| *at > now).min()
    }
}

fn values<K, V: Clone>(all: &BTreeMap<K, Arc<V>>) -> Vec<V> {
    all.values().map(|value| V::clone(value)).collect()
}

fn check_text(text: Option<&str>) -> Result<(), Error> {
    let is_good =
        |text: &str| (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
    match text.is_none_or(is_good) {
        true => Ok(()),
        false => Err(Error::Invalid("labels and names must have 1 to 256 bytes and no control characters")),
    }
}
