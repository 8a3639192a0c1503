//! What Claude Code was told and has not begun to work on.

use protocol::InputId;

/// How many inputs are kept in mind. The worker holds back all but one and those that steer.
const INPUTS_MAX: usize = 256;

/// What the agent was told and has not begun to work on, in order.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    waiting: Vec<Input>,
    /// Whether the agent says what becomes of them. One that never did works on what it was told last.
    told: bool,
}

#[derive(Debug)]
struct Input {
    id: InputId,
    uuid: String,
}

impl Inputs {
    /// The agent is told `id`; what it is to call it.
    pub(super) fn push(&mut self, id: InputId) -> String {
        let uuid = uuid(id);
        if self.waiting.len() >= INPUTS_MAX {
            self.waiting.remove(0);
        }
        self.waiting.push(Input { id, uuid: uuid.clone() });
        uuid
    }

    /// The agent says that it has one.
    pub(super) fn queued(&mut self) {
        self.told = true;
    }

    /// The agent begins to work on it, or gives it up; which one it is, unless it has before.
    pub(super) fn take(&mut self, uuid: &str) -> Option<InputId> {
        let at = self.waiting.iter().position(|input| input.uuid == uuid)?;
        Some(self.waiting.remove(at).id)
    }

    /// An agent that does not say what becomes of them works on something: that must be `id`.
    pub(super) fn take_silent(&mut self, id: InputId) -> Option<InputId> {
        let at = self.waiting.iter().position(|input| input.id == id && !self.told)?;
        Some(self.waiting.remove(at).id)
    }

    /// Whether the agent has not begun to work on `id`.
    pub(super) fn is_waiting(&self, id: InputId) -> bool {
        self.told && self.waiting.iter().any(|input| input.id == id)
    }
}

/// The same id as a UUID: the agent takes no other names.
fn uuid(id: InputId) -> String {
    let text = id.to_string();
    let hex = text.rsplit('_').next().unwrap_or_default();
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", group(0, 8), group(8, 12), group(12, 16), group(16, 20), group(20, 32))
}
