//! Inputs on which Claude Code has not begun to work.

use protocol::InputId;

/// How many inputs are remembered. The worker holds back all but one and those that steer.
const INPUTS_MAX: usize = 256;

/// Inputs on which the agent has not begun to work, in order.
#[derive(Debug, Default)]
pub(super) struct PendingInputs {
    waiting: Vec<PendingInput>,
    /// Whether the agent reports the state of inputs. An agent that never did works on the latest input.
    is_reported: bool,
}

#[derive(Debug)]
struct PendingInput {
    id: InputId,
    uuid: String,
}

impl PendingInputs {
    /// Adds an input that the agent is about to get. Returns its id for the agent.
    pub(super) fn push(&mut self, id: InputId) -> String {
        let uuid = uuid(id);
        if self.waiting.len() >= INPUTS_MAX {
            self.waiting.remove(0);
        }
        self.waiting.push(PendingInput { id, uuid: uuid.clone() });
        uuid
    }

    /// Notes that the agent has reported an input as queued.
    pub(super) fn mark_reported(&mut self) {
        self.is_reported = true;
    }

    /// Removes the input on which the agent begins to work, or that it gives up.
    pub(super) fn take(&mut self, uuid: &str) -> Option<InputId> {
        let at = self.waiting.iter().position(|input| input.uuid == uuid)?;
        Some(self.waiting.remove(at).id)
    }

    /// Removes the input `id` if the agent does not report the state of inputs: the agent works, so it must be on this one.
    pub(super) fn take_unreported(&mut self, id: InputId) -> Option<InputId> {
        let at = self.waiting.iter().position(|input| input.id == id && !self.is_reported)?;
        Some(self.waiting.remove(at).id)
    }

    /// Whether the agent has not begun to work on `id`.
    pub(super) fn is_waiting(&self, id: InputId) -> bool {
        self.is_reported && self.waiting.iter().any(|input| input.id == id)
    }
}

/// The input's id as a UUID, the only form that the agent accepts.
fn uuid(id: InputId) -> String {
    let text = id.to_string();
    let hex = text.rsplit('_').next().unwrap_or_default();
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", group(0, 8), group(8, 12), group(12, 16), group(16, 20), group(20, 32))
}
