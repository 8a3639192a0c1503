//! Ends what no longer may go on, as soon as that is so.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use jiff::Timestamp;
use protocol::relay::ClientId;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{error, info};

use super::{
    Relay,
    acceptance::Allowed,
    connection::Connection,
    lending::grants,
    store::{GrantEntry, State},
};

/// How often everything is looked at though nothing is known to have changed: the clock may be set.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How long a device that is cut off may take to hear that its commands are to end: all of it takes less than a second.
const LAST_WORDS_MAX: Duration = Duration::from_millis(250);

/// Why a device is cut off.
struct Cut {
    why: &'static str,
    /// Nothing of it may go on, whoever has started it.
    ends_all: bool,
}

impl Relay {
    /// Looks after what goes on until `stop`: a grant, a token, a device, a workspace, a runtime or what somebody may do can end at
    /// any time.
    pub(crate) async fn watch_over(&self, stop: CancellationToken) {
        let (mut store, mut runtimes) = (self.store.follow(), self.registry.changes());
        let (mut devices, mut people) = (self.connections.changes(), self.people.follow());
        loop {
            store.mark_unchanged();
            runtimes.mark_unchanged();
            devices.mark_unchanged();
            people.mark_unchanged();
            self.look().await;
            let now = Timestamp::now();
            let left = self.store.now().next_end(now).map(|at| now.duration_until(at).unsigned_abs());
            // Whatever is followed is there as long as we are.
            tokio::select! {
                () = stop.cancelled() => return,
                _ = store.changed() => {}
                _ = runtimes.changed() => {}
                _ = devices.changed() => {}
                _ = people.changed() => {}
                () = sleep(left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN))) => {}
            }
        }
    }

    async fn look(&self) {
        self.end_what_is_for_nobody();
        let state = self.store.now();
        self.renew_environments(&state);
        let now = Timestamp::now();
        let all = self.connections.list().into_iter();
        join_all(all.map(|connection| self.look_at(&state, connection, now))).await;
        // What there is now: meanwhile something may have been made.
        let state = self.store.now();
        let has_device = |id: &ClientId| state.device(id).is_ok();
        self.commands.sweep(has_device, |id| state.environment(id).is_ok());
    }

    /// Ends what may not go on at a device, or all of it. Its commands are ended first: a device may keep them over a
    /// connection that is lost.
    async fn look_at(&self, state: &State, connection: Arc<Connection>, now: Timestamp) {
        connection.drop_what_is_lost();
        let Some(cut) = self.has_ended(state, &connection, now) else {
            self.accept_anew(&connection).await;
            let commands = self.commands.take(&connection.client_id, false);
            commands.into_iter().for_each(|command| self.end_soon(command));
            return;
        };
        let commands = self.commands.take(&connection.client_id, cut.ends_all);
        // Who does not listen is not waited for.
        let _ = timeout(LAST_WORDS_MAX, self.end_commands(commands)).await;
        info!(device = %connection.client_id, why = cut.why, "disconnecting a device");
        connection.peer.close(cut.why);
    }

    /// Why a connection may not go on, if it may not.
    fn has_ended(&self, state: &State, connection: &Connection, now: Timestamp) -> Option<Cut> {
        if !state.is_good(&connection.client_id, connection.token, now) {
            return Some(Cut { why: "the device token expired or was revoked", ends_all: true });
        }
        if !state.is_enabled(&connection.workspace) {
            return Some(Cut { why: "devices were turned off in this workspace", ends_all: true });
        }
        let accepted = self.accepted_now(connection);
        let cut = Cut { why: "the device's grants were reduced", ends_all: false };
        (!connection.accepted().is_within(&accepted)).then_some(cut)
    }

    fn accepted_now(&self, connection: &Connection) -> Allowed {
        self.granted_to_device(&connection.client_id).of(&connection.offer, connection.shell.as_deref())
    }

    /// A device that may lend more than before is told so.
    async fn accept_anew(&self, connection: &Connection) {
        let accepted = self.accepted_now(connection);
        if *connection.accepted() != accepted {
            connection.accept(Arc::new(accepted.clone()));
            connection.tell_acceptance(&accepted).await;
        }
    }

    fn renew_environments(&self, state: &State) {
        let mut live = self.environments.lock();
        live.retain(|id, environment| match state.environment(*id) {
            Ok(entry) => {
                environment.renew(self.granted_to(state, entry));
                true
            }
            Err(_) => {
                environment.end();
                false
            }
        });
    }

    /// An environment and a grant are for one runtime, and for no other of its name; an environment also is for as long as
    /// whoever made it could do so.
    fn end_what_is_for_nobody(&self) {
        let is_gone = |entry: &GrantEntry| {
            let now = self.identity(&entry.grant.runtime_id);
            entry.runtime.as_ref().is_none_or(|runtime| runtime.is_gone(now.as_ref()))
        };
        let state = self.store.now();
        if state.environments().all(|entry| self.may_be(entry)) && !grants(&state).any(is_gone) {
            return;
        }
        let ended = self.store.change(|state, _| {
            state.end_environments(|entry| !self.may_be(entry));
            state.end_grants(is_gone);
            Ok(())
        });
        if let Err(error) = ended {
            // What may be used is nothing all the same.
            error!(error = %server::ErrorChain(&error), "could not remove expired relay records");
        }
    }
}
