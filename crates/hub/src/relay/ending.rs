//! Ends commands on devices: those that may not go on, and those that nobody wants.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use protocol::relay::{
    RawJson, RelayContext, RelayErrorCode, RelayMethod, method::ShellCancel, shell::CancelCommand,
};
use relay::Ask;
use tracing::warn;

use super::{
    Relay, acceptance::Allowed, commands::Taken, connection::Connection, pending::Pending, target::Target,
};

/// How long a device may take to end a command: longer than it takes from TERM to KILL.
const END_MAX: Duration = Duration::from_secs(10);

/// What a device is told that is asked to.
const REASON: &str = "the grant was revoked, or the request was cancelled";

impl Relay {
    /// Ends commands of a device; returns when it has answered.
    pub(super) async fn end_commands(&self, commands: Vec<Taken>) {
        join_all(commands.into_iter().map(|command| self.end_command(command))).await;
    }

    /// The same for one, while nobody waits.
    pub(super) fn end_soon(&self, command: Taken) {
        let relay = self.clone();
        self.tasks.spawn(async move { relay.end_command(command).await });
    }

    /// Ends a command if its device is there; if not, that is done when it comes back.
    pub(super) async fn end_command(&self, command: Taken) {
        let Some(connection) = self.connections.get(&command.start.environment.entry.client_id) else {
            return;
        };
        if self.cancel(&connection, &command).await {
            command.is_over();
        }
    }

    /// Asks a device to end a command; whether it is over, as far as the device says. That the hub itself asks this is
    /// written down like what others ask.
    async fn cancel(&self, connection: &Arc<Connection>, command: &Taken) -> bool {
        let environment = &command.start.environment;
        let said = RelayContext { session_id: command.start.session.clone(), ..RelayContext::default() };
        let cancel = CancelCommand { command_id: command.id.clone(), reason: Some(REASON.into()) };
        let params = RawJson::from_value(&cancel);
        let whom = (environment, Some(Arc::clone(connection)));
        let mut pending = Pending::new(self, whom, ShellCancel::INFO, Some(&said));
        if let Ok(target) = Target::of(ShellCancel::INFO, &params) {
            pending.is_about(&target);
        }
        if let Err(error) = pending.begin(false).await {
            // It is worse to let it go on.
            warn!(device = %connection.client_id, %error, "could not record that a command is being stopped; stopping it anyway");
        }
        let context = environment.context(Some(said), Allowed::default().terms());
        let ask = Ask::new(ShellCancel::INFO.name, params).context(context).within(END_MAX);
        let outcome = connection.peer.request(ask).await.outcome().await;
        pending.end(&outcome, 0);
        // A device that knows no such command has none; one that could not say may be asked again.
        let unsaid = [
            RelayErrorCode::RelayDisconnected,
            RelayErrorCode::Timeout,
            RelayErrorCode::ProviderError,
            RelayErrorCode::Cancelled,
        ];
        outcome.err().is_none_or(|error| !unsaid.contains(&error.code))
    }
}
