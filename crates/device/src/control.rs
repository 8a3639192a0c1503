//! What the owner of a device says about it while it is lent.

use std::sync::Arc;

use protocol::relay::{MethodInfo, RelayError, RelayErrorCode};
use tokio::sync::watch;

/// Whether a device does what it is asked. A clone is of the same device.
#[derive(Debug, Clone)]
pub struct Control(Arc<watch::Sender<Lending>>);

/// Whether a device does what it is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Lending {
    /// It does.
    #[default]
    Active,
    /// It begins nothing new for now.
    Paused {
        /// Why, for people.
        reason: Option<String>,
    },
    /// Its owner has ended it, and everything that went on.
    Stopped,
}

impl Default for Control {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Lending::Active)))
    }
}

impl Control {
    /// Begins nothing new until [`resume`](Self::resume); what goes on goes on.
    pub fn pause(&self, reason: Option<String>) {
        self.set(Lending::Paused { reason });
    }

    /// Does again what it is asked.
    pub fn resume(&self) {
        self.set(Lending::Active);
    }

    /// Ends it for good.
    pub fn stop(&self) {
        self.set(Lending::Stopped);
    }

    /// How it is now.
    pub fn now(&self) -> Lending {
        self.0.borrow().clone()
    }

    /// How it is, whenever that changes.
    pub fn follow(&self) -> watch::Receiver<Lending> {
        self.0.subscribe()
    }

    /// Whether this may be done now.
    ///
    /// # Errors
    /// `capability_unavailable` when it has ended, and while it is paused unless it is about something that goes on.
    pub fn check(&self, row: &MethodInfo) -> Result<(), RelayError> {
        let why = match &*self.0.borrow() {
            Lending::Active => return Ok(()),
            Lending::Paused { .. } if row.controls_running_operation() => return Ok(()),
            Lending::Paused { .. } => "the device's owner has paused it",
            Lending::Stopped => "the device's owner has stopped it",
        };
        Err(RelayError::new(RelayErrorCode::CapabilityUnavailable, why))
    }

    /// What has ended stays so.
    fn set(&self, lending: Lending) {
        self.0.send_if_modified(|now| {
            let changes = *now != Lending::Stopped && *now != lending;
            if changes {
                *now = lending;
            }
            changes
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// relay-61: a device that is paused begins nothing new, but what goes on can be spoken to and ended.
    #[test]
    fn what_goes_on_can_be_ended_while_a_device_is_paused() {
        let may = |control: &Control, name: &str| control.check(MethodInfo::find(name).unwrap()).is_ok();
        let control = Control::default();
        control.pause(None);
        for (name, expected) in
            [("file.read", false), ("shell.start", false), ("tool.call", false), ("shell.input", true)]
        {
            assert_eq!(may(&control, name), expected, "{name}");
        }
        assert!(
            may(&control, "shell.cancel") && may(&control, "shell.status") && may(&control, "tool.cancel")
        );
        control.stop();
        assert!(!may(&control, "shell.cancel") && !may(&control, "file.read"));
    }
}
