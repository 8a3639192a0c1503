//! The commands that environments have started: whose each is, as it is not there for another, and whether it
//! may go on, as one in the background outlives its request.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use protocol::{EnvironmentId, relay::ClientId};
use tokio_util::sync::CancellationToken;

use super::environment::Environment;

/// How many commands of an environment may go on, as far as is known here; a device runs fewer. The oldest makes room, and
/// is ended.
const GOING_MAX: usize = 512;

/// How many that have ended are remembered of an environment; a device remembers fewer.
const ENDED_MAX: usize = 64;

/// The longest name that a device can give a command.
const NAME_BYTES_MAX: usize = 256;

/// The commands that environments have started. A clone is of the same.
#[derive(Clone, Default)]
pub(crate) struct Commands(Arc<Mutex<HashMap<ClientId, Known>>>);

/// What is known of one device.
#[derive(Default)]
struct Known {
    owners: HashMap<String, EnvironmentId>,
    theirs: HashMap<EnvironmentId, Theirs>,
}

/// The commands of one environment, the oldest first.
#[derive(Default)]
struct Theirs {
    going: VecDeque<Command>,
    ended: VecDeque<String>,
}

struct Command {
    id: String,
    start: Arc<Start>,
    /// Somebody is about to end it.
    is_taken: bool,
}

/// Under what a command was started.
pub(crate) struct Start {
    pub(crate) environment: Arc<Environment>,
    /// The session that the device knows it by.
    pub(crate) session: Option<String>,
    /// Cancelled when less may be used than was granted then.
    pub(crate) revoked: CancellationToken,
    /// Cancelled when the device loses the permission.
    pub(crate) lost: CancellationToken,
}

/// A command that is to be ended. Unless it is told to be over it is there to be taken again.
pub(crate) struct Taken {
    pub(crate) id: String,
    pub(crate) start: Arc<Start>,
    commands: Commands,
}

impl Start {
    fn client_id(&self) -> &ClientId {
        &self.environment.entry.client_id
    }

    pub(crate) fn may_go_on(&self) -> bool {
        !self.revoked.is_cancelled() && !self.lost.is_cancelled()
    }
}

impl Commands {
    /// A command has started; the one that makes room for it, which is to be ended.
    #[must_use]
    pub(crate) fn started(&self, id: &str, start: &Arc<Start>) -> Option<Taken> {
        let mut devices = self.0.lock();
        let known = devices.entry(start.client_id().clone()).or_default();
        // A device that calls two commands the same cannot tell them apart either.
        if id.len() > NAME_BYTES_MAX || known.owners.contains_key(id) {
            return None;
        }
        let by = start.environment.entry.id;
        known.owners.insert(id.to_owned(), by);
        let going = &mut known.theirs.entry(by).or_default().going;
        going.push_back(Command { id: id.to_owned(), start: Arc::clone(start), is_taken: false });
        if going.len() <= GOING_MAX {
            return None;
        }
        let mut oldest = going.pop_front()?;
        known.owners.remove(&oldest.id);
        (!oldest.is_taken).then(|| self.taken(&mut oldest))
    }

    /// A command is over. Who has started it may still ask how it ended.
    pub(crate) fn ended(&self, id: &str, start: &Start) {
        let mut devices = self.0.lock();
        let Some(known) = devices.get_mut(start.client_id()) else { return };
        let Some(theirs) = known.theirs.get_mut(&start.environment.entry.id) else { return };
        let Some(at) = theirs.going.iter().position(|command| command.id == id) else { return };
        theirs.ended.extend(theirs.going.remove(at).map(|command| command.id));
        if theirs.ended.len() > ENDED_MAX
            && let Some(oldest) = theirs.ended.pop_front()
        {
            known.owners.remove(&oldest);
        }
    }

    /// Whether another environment has started it. Of what is not known here the device decides.
    pub(crate) fn is_of_another(&self, client: &ClientId, id: &str, than: EnvironmentId) -> bool {
        let devices = self.0.lock();
        devices.get(client).and_then(|known| known.owners.get(id)).is_some_and(|by| *by != than)
    }

    /// The commands of a device that may not go on; with `all` those that may, too.
    pub(crate) fn take(&self, client: &ClientId, all: bool) -> Vec<Taken> {
        let mut devices = self.0.lock();
        let theirs = devices.get_mut(client).into_iter().flat_map(|known| known.theirs.values_mut());
        let going = theirs.flat_map(|theirs| &mut theirs.going);
        let ends = going.filter(|command| !command.is_taken && (all || !command.start.may_go_on()));
        ends.map(|command| self.taken(command)).collect()
    }

    /// This command, if it goes on.
    pub(crate) fn take_one(&self, id: &str, start: &Start) -> Option<Taken> {
        let mut devices = self.0.lock();
        let theirs = devices.get_mut(start.client_id())?.theirs.get_mut(&start.environment.entry.id)?;
        let command = theirs.going.iter_mut().find(|command| command.id == id && !command.is_taken)?;
        Some(self.taken(command))
    }

    /// Forgets the environments and devices that are gone, but for commands of theirs that may go on somewhere.
    pub(crate) fn sweep(
        &self,
        has_device: impl Fn(&ClientId) -> bool,
        has_environment: impl Fn(EnvironmentId) -> bool,
    ) {
        self.0.lock().retain(|client, known| {
            let theirs = &mut known.theirs;
            theirs.retain(|id, theirs| has_environment(*id) || !theirs.going.is_empty());
            known.owners.retain(|_, by| theirs.contains_key(by));
            has_device(client) && !known.owners.is_empty()
        });
    }

    fn taken(&self, command: &mut Command) -> Taken {
        command.is_taken = true;
        Taken { id: command.id.clone(), start: Arc::clone(&command.start), commands: self.clone() }
    }
}

impl Taken {
    /// It is over, as far as can be told.
    pub(crate) fn is_over(&self) {
        self.commands.ended(&self.id, &self.start);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut devices = self.commands.0.lock();
        let known = devices.get_mut(self.start.client_id());
        let theirs = known.and_then(|known| known.theirs.get_mut(&self.start.environment.entry.id));
        let going = theirs.into_iter().flat_map(|theirs| &mut theirs.going);
        for command in going.filter(|command| command.id == self.id) {
            command.is_taken = false;
        }
    }
}

#[cfg(test)]
mod tests;
