//! A request that starts a command: what is heard of the command.

use std::sync::Arc;

use protocol::relay::{
    RawJson, RelayError, RelayErrorCode,
    shell::{CommandOutcome, CommandStarted},
};
use relay::Part;

use super::{
    Relay,
    commands::{Start, Taken},
};

/// The stream event that tells which command was started.
const STATUS: &str = "status";

/// A request that starts a command.
pub(super) struct Starting {
    start: Arc<Start>,
    /// The command, once it is known which.
    command: Option<String>,
}

impl Starting {
    pub(super) fn new(start: Start) -> Self {
        Self { start: Arc::new(start), command: None }
    }

    /// Hears which command was started, and whether it is over.
    pub(super) fn hear(&mut self, relay: &Relay, part: &Part) {
        match part {
            Part::Stream(frame) if self.command.is_none() && frame.event == STATUS => {
                if let Ok(CommandStarted { command_id }) = frame.data.object() {
                    self.started(relay, command_id);
                }
            }
            Part::Stream(_) => {}
            Part::Outcome(outcome) => self.over(relay, outcome),
        }
    }

    /// The command that goes on though its request is over, if there is one.
    pub(super) fn left(self, relay: &Relay) -> Option<Taken> {
        relay.commands.take_one(&self.command?, &self.start)
    }

    fn started(&mut self, relay: &Relay, id: String) {
        if let Some(oldest) = relay.commands.started(&id, &self.start) {
            relay.end_soon(oldest);
        }
        // Whoever ends what may not go on may just have looked.
        if !self.start.may_go_on()
            && let Some(command) = relay.commands.take_one(&id, &self.start)
        {
            relay.end_soon(command);
        }
        self.command = Some(id);
    }

    fn over(&mut self, relay: &Relay, outcome: &Result<RawJson, RelayError>) {
        let is_over = match outcome {
            Ok(result) => {
                let Ok(CommandOutcome { command_id, exit_code, .. }) = result.object() else { return };
                if let (Some(id), None) = (command_id, &self.command) {
                    self.started(relay, id);
                }
                // What is in the background has just begun.
                exit_code.is_some()
            }
            // Nobody can tell what has become of it.
            Err(error) => !matches!(error.code, RelayErrorCode::RelayDisconnected | RelayErrorCode::Timeout),
        };
        if let (Some(id), true) = (&self.command, is_over) {
            relay.commands.ended(id, &self.start);
        }
    }
}
