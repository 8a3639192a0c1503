//! What is granted of devices and made of it, and to whom it may be of use.

use std::sync::Arc;

use hub_access::{Action, EffectiveRights};
use jiff::Timestamp;
use protocol::{
    EnvironmentId, RuntimeId,
    lending::{CreateEnvironmentRequest, CreateGrantRequest},
    relay::{CapabilityGrant, ClientId, Grant},
};

use super::{
    Environment, Relay,
    acceptance::Allowed,
    store::{self, Added, EnvironmentEntry, GrantEntry, NewDevice, State},
};
use crate::{NewToken, registry::Identity};

/// Why there is no grant or environment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddError {
    #[error("runtime `{0}` does not exist")]
    NoRuntime(RuntimeId),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Relay {
    /// What any runtime may use of a device: it is accepted for no more.
    pub(crate) fn granted_to_device(&self, id: &ClientId) -> Allowed {
        let state = self.store.now();
        let grants = grants(&state).filter(|entry| entry.grant.client_id == *id);
        // A runtime that is not there any more uses nothing.
        let held = grants.filter(|entry| {
            entry.runtime.is_some() && entry.runtime == self.identity(&entry.grant.runtime_id)
        });
        Allowed::by_any(held.map(|entry| &entry.grant))
    }

    /// What an environment may use of its device.
    pub(super) fn granted_to(&self, state: &State, entry: &EnvironmentEntry) -> Allowed {
        let is_of_its_scope =
            |scope: &str| entry.scope_id.as_deref() == Some(scope) || entry.workspace.as_str() == scope;
        let grants = grants(state).filter(|granted| {
            let grant = &granted.grant;
            grant.client_id == entry.client_id
                && grant.runtime_id == entry.runtime_id
                && granted.runtime == entry.runtime
                && grant.scope_id.as_deref().is_none_or(is_of_its_scope)
        });
        if !state.is_enabled(&entry.workspace) || !self.may_be(entry) {
            return Allowed::default();
        }
        let granted = Allowed::by(grants.map(|granted| &granted.grant));
        granted.only(entry.capabilities.as_deref(), entry.roots.as_deref())
    }

    /// Whether there may be an environment: its time is not over, its runtime is the one that it was made for, and
    /// whoever made it could do so now.
    pub(super) fn may_be(&self, entry: &EnvironmentEntry) -> bool {
        let runtime = self.registry.get(&entry.runtime_id);
        let is_same = runtime.is_some_and(|runtime| {
            runtime.workspace == entry.workspace && Some(runtime.identity()) == entry.runtime
        });
        let by = self.people.user(&entry.created_by);
        let may = by.is_ok_and(|user| {
            // Another who has the name now has not made it.
            user.created_at <= entry.created_at
                && Action::EnvironmentsAdd.is_allowed_for(&user, &entry.workspace)
        });
        !entry.has_expired(Timestamp::now()) && is_same && may
    }

    /// Which runtime has that name.
    pub(super) fn identity(&self, id: &RuntimeId) -> Option<Identity> {
        self.registry.get(id).map(|runtime| runtime.identity())
    }

    /// Grants a runtime the use of a device.
    pub(crate) fn add_grant(&self, add: CreateGrantRequest) -> Result<Grant, AddError> {
        let runtime =
            self.identity(&add.runtime_id).ok_or_else(|| AddError::NoRuntime(add.runtime_id.clone()))?;
        Ok(self.store.change(|state, now| state.add_grant(add, runtime, now))?)
    }

    /// Lets a device in, and grants some runtimes the use of it: all of that, or nothing.
    pub(crate) fn let_in(
        &self,
        new: NewDevice,
        (runtimes, capabilities): (&[RuntimeId], &[CapabilityGrant]),
    ) -> Result<(Added, NewToken), AddError> {
        let grant = |id: &RuntimeId| {
            let runtime = self.identity(id).ok_or_else(|| AddError::NoRuntime(id.clone()))?;
            let (client_id, capabilities) = (new.client_id.clone(), capabilities.to_vec());
            let (runtime_id, scope_id, expires_at) = (id.clone(), None, None);
            Ok((CreateGrantRequest { client_id, runtime_id, scope_id, capabilities, expires_at }, runtime))
        };
        let grants = runtimes.iter().map(grant).collect::<Result<_, AddError>>()?;
        Ok(self.store.pair_device(new, grants)?)
    }

    /// Makes an environment: what of a device a session uses. It lasts no longer than what it is made with.
    pub(crate) fn add_environment(
        &self,
        add: CreateEnvironmentRequest,
        by: &EffectiveRights,
    ) -> Result<(Arc<Environment>, NewToken), AddError> {
        let CreateEnvironmentRequest { runtime_id, session_id, run_id, using } = add;
        let runtime =
            self.registry.get(&runtime_id).ok_or_else(|| AddError::NoRuntime(runtime_id.clone()))?;
        let state = self.store.now();
        let device = state.device(&using.client_id)?;
        if device.workspace != runtime.workspace {
            return Err(store::Error::NoDevice(using.client_id).into());
        }
        let made = self.store.add_environment(|digest| EnvironmentEntry {
            id: EnvironmentId::mint(),
            client_id: using.client_id,
            runtime_id,
            runtime: Some(runtime.identity()),
            workspace: runtime.workspace,
            scope_id: using.scope_id,
            session_id,
            run_id,
            capabilities: using.capabilities,
            roots: using.roots,
            approvals: using.approvals,
            created_at: Timestamp::now(),
            created_by: by.user.name.clone(),
            expires_at: by.token.expires_at,
            digest,
        });
        let (entry, token) = made?;
        Ok((self.environment(entry.id)?, token))
    }
}

/// The grants that hold now, of devices whose workspace lends.
pub(super) fn grants(state: &State) -> impl Iterator<Item = &GrantEntry> {
    state.grants(Timestamp::now()).map(|entry| &**entry)
}
