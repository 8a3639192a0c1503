//! A caller's role and the policy, followed while both can change.

use std::{future::pending, sync::Arc};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio::sync::watch;

use crate::{
    policy::{CurrentPolicy, Policy, PolicySubject},
    poll_only_when_woken::poll_only_when_woken,
    rights_watch::RightsWatch,
};

/// A caller in one workspace and the policy in force, for checks that are repeated while a stream is open.
#[derive(Clone)]
pub struct AccessWatch {
    subject: PolicySubject,
    /// The caller's rights, if they can change.
    rights: Option<RightsWatch>,
    policy: watch::Receiver<Arc<dyn Policy>>,
}

impl AccessWatch {
    /// Follows `rights`, if there are any, and the policy.
    pub fn new(subject: PolicySubject, rights: Option<RightsWatch>, policy: &CurrentPolicy) -> Self {
        Self { subject, rights, policy: policy.subscribe() }
    }

    /// The caller with their current role, and the policy in force; `None` once the token is no longer valid.
    pub fn now(&mut self) -> Option<(PolicySubject, Arc<dyn Policy>)> {
        if let Some(rights) = &mut self.rights {
            self.subject.role = rights.current()?.role_in(&self.subject.workspace);
        }
        let policy = Arc::clone(&self.policy.borrow_and_update());
        Some((self.subject.clone(), policy))
    }

    /// Whether rights or policy were changed since [`Self::now`]. Expiry is not checked. It takes no lock, so it can be called
    /// for every event.
    pub fn has_changed(&self) -> bool {
        let is_replaced = self.policy.has_changed().unwrap_or(false);
        is_replaced || self.rights.as_ref().is_some_and(RightsWatch::has_changed)
    }

    /// Waits until rights or policy may have changed. Cancel safe.
    pub async fn changed(&mut self) {
        let Self { rights, policy, .. } = self;
        let rights_changed = async {
            match rights {
                Some(rights) => rights.changed().await,
                None => pending().await,
            }
        };
        let policy_changed = async {
            // The sender is gone: the policy cannot change any more.
            if policy.changed().await.is_err() {
                pending().await
            }
        };
        let changed = async {
            tokio::select! {
                () = rights_changed => {}
                () = policy_changed => {}
            }
        };
        poll_only_when_woken(changed).await;
    }

    /// Yields an item whenever rights or policy may have changed.
    pub fn changes(&self) -> BoxStream<'static, ()> {
        let again = |mut watch: Self| async {
            watch.changed().await;
            Some(((), watch))
        };
        stream::unfold(self.clone(), again).boxed()
    }
}
