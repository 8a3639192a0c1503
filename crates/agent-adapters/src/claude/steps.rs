//! What Claude Code means to do: its lists of todos and of tasks.

use protocol::event::{AgentPlan, PlanStep, PlanStepState};
use serde_json::Value;

use crate::stream_json::{list, text};

/// How many tasks are remembered; a plan that is longer is no use to anybody.
const TASKS_MAX: usize = 500;

/// The tasks so far.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// With the names that the agent gave them, in order.
    tasks: Vec<(String, PlanStep)>,
}

impl Steps {
    /// A tool was called and has given `result`; the plan, if it was one that changes it.
    pub(super) fn called(&mut self, tool: &str, input: &Value, result: Option<&Value>) -> Option<AgentPlan> {
        match tool {
            "TodoWrite" => {
                let steps = list(input, "todos").iter().map(|todo| step(todo, "content")).collect();
                return Some(AgentPlan { steps });
            }
            "TaskCreate" => {
                let task = result?.get("task")?;
                let new = (text(task, "id")?.to_owned(), step(task, "subject"));
                if self.tasks.len() < TASKS_MAX {
                    self.tasks.push(new);
                }
            }
            "TaskUpdate" => self.update(input)?,
            "TaskList" => {
                let tasks = list(result?, "tasks").iter().take(TASKS_MAX);
                self.tasks = tasks
                    .filter_map(|task| Some((text(task, "id")?.into(), step(task, "subject"))))
                    .collect();
            }
            _ => return None,
        }
        Some(AgentPlan { steps: self.tasks.iter().map(|(_, step)| step.clone()).collect() })
    }

    fn update(&mut self, input: &Value) -> Option<()> {
        let id = text(input, "taskId")?;
        let at = self.tasks.iter().position(|(known, _)| known == id)?;
        if text(input, "status") == Some("deleted") {
            self.tasks.remove(at);
            return Some(());
        }
        let (_, step) = self.tasks.get_mut(at)?;
        if let Some(subject) = text(input, "subject") {
            step.text = subject.into();
        }
        if let Some(status) = text(input, "status") {
            step.state = state(status);
        }
        Some(())
    }
}

fn step(said: &Value, key: &str) -> PlanStep {
    let state = text(said, "status").map_or(PlanStepState::Pending, state);
    PlanStep { text: text(said, key).unwrap_or_default().into(), state }
}

fn state(status: &str) -> PlanStepState {
    match status {
        "pending" => PlanStepState::Pending,
        "in_progress" => PlanStepState::InProgress,
        "completed" => PlanStepState::Completed,
        _ => PlanStepState::Other,
    }
}
