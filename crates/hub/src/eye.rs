//! Who looks, and what is decided of them, as both change.

use std::{future::pending, sync::Arc};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio::sync::watch;

use crate::{
    policy::{Policies, Policy, Who},
    seldom::seldom,
    standing::Standing,
};

/// Somebody of whom it is decided what they see and may do.
#[derive(Clone)]
pub(crate) struct Eye {
    who: Who,
    /// How they stand with the hub, if that can change.
    standing: Option<Standing>,
    policy: watch::Receiver<Arc<dyn Policy>>,
}

impl Eye {
    pub(crate) fn new(who: Who, standing: Option<Standing>, policies: &Policies) -> Self {
        Self { who, standing, policy: policies.subscribe() }
    }

    /// Who they are now, and what decides; nothing once they are not let in any more.
    pub(crate) fn now(&mut self) -> Option<(Who, Arc<dyn Policy>)> {
        if let Some(standing) = &mut self.standing {
            self.who.role = standing.rights()?.role_in(&self.who.workspace);
        }
        let policy = Arc::clone(&self.policy.borrow_and_update());
        Some((self.who.clone(), policy))
    }

    /// Whether somebody has changed that since it was last asked for; what expires by itself is not looked at. It takes no
    /// lock, so it can be asked for every event.
    pub(crate) fn has_changed(&self) -> bool {
        let is_other = self.policy.has_changed().unwrap_or(false);
        is_other || self.standing.as_ref().is_some_and(Standing::has_changed)
    }

    /// Waits until that may have changed. Cancel safe.
    pub(crate) async fn changed(&mut self) {
        let Self { standing, policy, .. } = self;
        let stands_otherwise = async {
            match standing {
                Some(standing) => standing.changed().await,
                None => pending().await,
            }
        };
        let is_replaced = async {
            // Nobody is left who could say.
            if policy.changed().await.is_err() {
                pending().await
            }
        };
        let changed = async {
            tokio::select! {
                () = stands_otherwise => {}
                () = is_replaced => {}
            }
        };
        seldom(changed).await;
    }

    /// Something whenever that may have changed.
    pub(crate) fn changes(&self) -> BoxStream<'static, ()> {
        let again = |mut eye: Self| async {
            eye.changed().await;
            Some(((), eye))
        };
        stream::unfold(self.clone(), again).boxed()
    }
}
