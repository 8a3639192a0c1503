//! Threads of subagents.

use std::collections::HashMap;

use super::thread_item::CodexItemBody;

/// The tool that starts a subagent.
const SPAWN_AGENT: &str = "spawnAgent";

/// The calls that started the threads of subagents.
#[derive(Debug, Default)]
pub(super) struct SubagentThreads {
    /// The call that started each thread.
    calls: HashMap<String, String>,
    /// The last call that started a subagent. Codex sends the first items of a subagent before it names its thread.
    last_spawn: Option<String>,
}

impl SubagentThreads {
    /// The call that started a thread, as far as that is known.
    pub(super) fn parent_call(&self, thread: &str) -> Option<String> {
        self.calls.get(thread).or(self.last_spawn.as_ref()).cloned()
    }

    /// Records the threads that an item has started.
    pub(super) fn record(&mut self, id: &str, body: &CodexItemBody) {
        let threads = match body {
            CodexItemBody::CollabAgentToolCall(item) => {
                if item.tool.as_deref() == Some(SPAWN_AGENT) {
                    self.last_spawn = Some(id.to_owned());
                }
                item.receiver_thread_ids.as_slice()
            }
            CodexItemBody::SubAgentActivity(item) => item.agent_thread_id.as_slice(),
            _ => return,
        };
        for thread in threads {
            self.calls.entry(thread.clone()).or_insert_with(|| id.to_owned());
        }
    }
}
