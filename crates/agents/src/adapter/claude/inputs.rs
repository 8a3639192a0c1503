//! What Claude Code was told and has not begun to work on.

use protocol::InputId;

/// How many inputs are kept in mind. The worker holds back all but one and those that steer.
const INPUTS_MAX: usize = 256;

/// What the agent was told and has not begun to work on, in order.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    waiting: Vec<Input>,
}

#[derive(Debug)]
struct Input {
    id: InputId,
    uuid: String,
    /// Whether the agent has said that it has it. One that never does, does not tell when it begins either.
    queued: bool,
}

impl Inputs {
    /// The agent is told `id`; what it is to call it.
    pub(super) fn told(&mut self, id: InputId) -> String {
        let uuid = uuid(id);
        if self.waiting.len() >= INPUTS_MAX {
            self.waiting.remove(0);
        }
        self.waiting.push(Input { id, uuid: uuid.clone(), queued: false });
        uuid
    }

    /// The agent has it.
    pub(super) fn queued(&mut self, uuid: &str) {
        if let Some(input) = self.waiting.iter_mut().find(|input| input.uuid == uuid) {
            input.queued = true;
        }
    }

    /// The agent begins to work on it, or gives it up; which one it is, unless it has before.
    pub(super) fn take(&mut self, uuid: &str) -> Option<InputId> {
        let at = self.waiting.iter().position(|input| input.uuid == uuid)?;
        Some(self.waiting.remove(at).id)
    }

    /// The agent works on something without having said that it has `id`: that must be it.
    pub(super) fn take_silent(&mut self, id: InputId) -> Option<InputId> {
        let at = self.waiting.iter().position(|input| input.id == id && !input.queued)?;
        Some(self.waiting.remove(at).id)
    }

    /// Whether the agent has `id` and has not begun to work on it.
    pub(super) fn is_queued(&self, id: InputId) -> bool {
        self.waiting.iter().any(|input| input.id == id && input.queued)
    }
}

/// The same id as a UUID: the agent takes no other names.
fn uuid(id: InputId) -> String {
    let text = id.to_string();
    let hex = text.rsplit('_').next().unwrap_or_default();
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", group(0, 8), group(8, 12), group(12, 16), group(16, 20), group(20, 32))
}
