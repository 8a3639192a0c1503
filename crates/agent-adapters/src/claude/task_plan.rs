//! The agent's plan, from its lists of todos and tasks.

use protocol::event::{AgentPlan, PlanStep, PlanStepState};
use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// How many tasks are remembered; a longer plan helps no reader.
const TASKS_MAX: usize = 500;

/// The agent's tasks so far.
#[derive(Debug, Default)]
pub(super) struct TaskPlan {
    /// With the agent's ids, in order.
    tasks: Vec<(String, PlanStep)>,
}

/// The arguments of `TodoWrite`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TodoList {
    #[serde(deserialize_with = "lenient::list")]
    todos: Vec<ClaudeTask>,
}

/// The results of `TaskCreate` and `TaskList`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskResult {
    #[serde(deserialize_with = "lenient::field")]
    task: Option<ClaudeTask>,
    #[serde(deserialize_with = "lenient::list")]
    tasks: Vec<ClaudeTask>,
}

/// A task, a todo, or the arguments of `TaskUpdate`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeTask {
    #[serde(deserialize_with = "lenient::text")]
    id: Option<String>,
    #[serde(rename = "taskId", deserialize_with = "lenient::text")]
    task_id: Option<String>,
    /// The text of a task.
    #[serde(deserialize_with = "lenient::text")]
    subject: Option<String>,
    /// The text of a todo.
    #[serde(deserialize_with = "lenient::text")]
    content: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    status: Option<String>,
}

impl TaskPlan {
    /// Applies a finished tool call, and returns the plan if the call was about it.
    pub(super) fn apply_call(
        &mut self,
        tool: &str,
        input: &Value,
        result: Option<&Value>,
    ) -> Option<AgentPlan> {
        match tool {
            "TodoWrite" => {
                let TodoList { todos } = lenient::object(input);
                return Some(AgentPlan { steps: todos.into_iter().map(PlanStep::from).collect() });
            }
            "TaskCreate" => {
                let TaskResult { task, .. } = lenient::object(result?);
                let task = task?.into_entry()?;
                if self.tasks.len() < TASKS_MAX {
                    self.tasks.push(task);
                }
            }
            "TaskUpdate" => self.update(lenient::object(input))?,
            "TaskList" => {
                let TaskResult { tasks, .. } = lenient::object(result?);
                self.tasks = tasks.into_iter().take(TASKS_MAX).filter_map(ClaudeTask::into_entry).collect();
            }
            _ => return None,
        }
        Some(AgentPlan { steps: self.tasks.iter().map(|(_, step)| step.clone()).collect() })
    }

    fn update(&mut self, change: ClaudeTask) -> Option<()> {
        let id = change.task_id?;
        let at = self.tasks.iter().position(|(known, _)| *known == id)?;
        if change.status.as_deref() == Some("deleted") {
            self.tasks.remove(at);
            return Some(());
        }
        let (_, step) = self.tasks.get_mut(at)?;
        if let Some(subject) = change.subject {
            step.text = subject;
        }
        if let Some(status) = change.status {
            step.state = step_state(&status);
        }
        Some(())
    }
}

impl ClaudeTask {
    fn into_entry(mut self) -> Option<(String, PlanStep)> {
        Some((self.id.take()?, self.into()))
    }
}

impl From<ClaudeTask> for PlanStep {
    fn from(task: ClaudeTask) -> Self {
        Self {
            text: task.subject.or(task.content).unwrap_or_default(),
            state: task.status.as_deref().map_or(PlanStepState::Pending, step_state),
        }
    }
}

fn step_state(status: &str) -> PlanStepState {
    match status {
        "pending" => PlanStepState::Pending,
        "in_progress" => PlanStepState::InProgress,
        "completed" => PlanStepState::Completed,
        _ => PlanStepState::Other,
    }
}
