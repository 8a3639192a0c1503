//! Renders the events of a session on the screen.

mod error_help;
mod tool_call_view;

use std::collections::{HashMap, HashSet};

use protocol::{
    AgentName, Event, InputId, Message,
    event::{AgentPlan, InputState, PlanStepState, TurnEndReason, TurnEnded},
    message::{DeltaKind, MessageDelta, MessageRole, PartContent},
    sessions::Session,
    wait::{PermissionOutcome, QuestionOutcome, Wait, WaitOutcome, WaitSettlement},
};

use super::screen::{ChatScreen, TextStyle};
use crate::exit::CommandResult;
use tool_call_view::ToolCallsView;

pub(super) use error_help::ErrorHelp;

/// How much of an unparsed message is shown.
const UNPARSED_CHARS_MAX: usize = 200;

/// Renders the events of a session on the screen.
pub(super) struct SessionView {
    pub(super) screen: ChatScreen,
    /// How many bytes of each text part were printed. Agents send a text as deltas and then once more as a whole message; only
    /// the part that was not printed yet is printed then.
    printed_bytes: HashMap<PartKey, usize>,
    tool_calls: ToolCallsView,
    /// Messages that were typed in this terminal, which the user already sees.
    own_inputs: HashSet<InputId>,
    /// The line with the agent's version and model was printed.
    started_shown: bool,
}

/// Whether a text is part of the answer, or goes beside it.
#[derive(Debug, Clone, Copy)]
enum TextKind {
    Answer,
    Reasoning,
}

/// Identifies one part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PartKey {
    message_id: String,
    part_id: String,
}

impl SessionView {
    pub(super) fn new(screen: ChatScreen) -> Self {
        Self {
            screen,
            printed_bytes: HashMap::new(),
            tool_calls: ToolCallsView::default(),
            own_inputs: HashSet::new(),
            started_shown: false,
        }
    }

    /// Does not show this message again when its event arrives.
    pub(super) fn mark_as_own(&mut self, input: InputId) {
        self.own_inputs.insert(input);
    }

    /// Shows one event of a session with this agent.
    pub(super) fn show_event(&mut self, event: &Event, agent: &AgentName) -> CommandResult {
        match event {
            Event::Started(started) if !self.started_shown => {
                self.started_shown = true;
                let parts = [started.version.as_deref(), started.model.as_deref(), started.mode.as_deref()];
                let parts: Vec<_> = parts.into_iter().flatten().collect();
                self.screen.line(TextStyle::Dim, &format!("{agent} {}", parts.join(" · ")))
            }
            Event::Message(message) => self.show_message(message),
            Event::MessageDelta(delta) => self.show_delta(delta),
            Event::Plan(plan) => self.show_plan(plan),
            Event::Error(error) => {
                let ErrorHelp { problem, remedy } = ErrorHelp::new(error, agent);
                self.screen.line(TextStyle::Red, &format!("✗ {problem}"))?;
                remedy.map_or(Ok(()), |remedy| self.screen.line(TextStyle::Dim, &format!("  {remedy}")))
            }
            Event::Input(receipt) => match (receipt.state, &receipt.reason) {
                (InputState::Refused, reason) => {
                    let reason = reason.as_deref().unwrap_or("the agent rejected it");
                    self.screen.line(TextStyle::Red, &format!("✗ not delivered: {reason}"))
                }
                _ => Ok(()),
            },
            Event::Status(status) => {
                status.detail.as_ref().map_or(Ok(()), |detail| self.screen.line(TextStyle::Dim, detail))
            }
            Event::PermissionResolved(resolved) => {
                self.show_answer(describe_permission(resolved.outcome), resolved.author.as_ref())
            }
            Event::QuestionResolved(resolved) => {
                let answer = match &resolved.outcome {
                    QuestionOutcome::Answered(answers) => {
                        format!("answered: {}", answers.concat().join(", "))
                    }
                    QuestionOutcome::Rejected => "rejected".into(),
                    QuestionOutcome::Expired => "nobody answered in time".into(),
                    QuestionOutcome::Withdrawn => "withdrawn".into(),
                };
                self.show_answer(&answer, resolved.author.as_ref())
            }
            Event::TurnEnded(ended) => self.show_turn_end(ended),
            _ => Ok(()),
        }
    }

    /// Shows a message from before this chat was started.
    pub(super) fn show_past_message(&mut self, message: &Message) -> CommandResult {
        match message.role {
            MessageRole::User => self.show_user_message(message),
            _ => self.show_message(message),
        }?;
        self.screen.start_line()
    }

    /// Shows how an approval for a device was answered, and by whom.
    pub(super) fn show_settlement(&mut self, wait: &Wait) -> CommandResult {
        match &wait.settlement {
            Some(WaitSettlement { outcome: WaitOutcome::Permission(outcome), author, .. }) => {
                self.show_answer(describe_permission(*outcome), author.as_ref())
            }
            _ => Ok(()),
        }
    }

    /// Shows how a wait was answered, and by whom.
    fn show_answer(&mut self, answer: &str, author: Option<&protocol::Author>) -> CommandResult {
        let by = author.map(|author| format!(" by {author}")).unwrap_or_default();
        self.screen.line(TextStyle::Dim, &format!("  {answer}{by}"))
    }

    fn show_message(&mut self, message: &Message) -> CommandResult {
        if message.role == MessageRole::User {
            let is_own = message.id.parse().is_ok_and(|input| self.own_inputs.remove(&input));
            return if is_own { Ok(()) } else { self.show_user_message(message) };
        }
        for part in &message.parts {
            let key = || PartKey { message_id: message.id.clone(), part_id: part.id.clone() };
            match &part.content {
                PartContent::Text { text } => self.print_rest(key(), text, TextKind::Answer)?,
                PartContent::Reasoning { text } => self.print_rest(key(), text, TextKind::Reasoning)?,
                PartContent::ToolCall(call) => self.tool_calls.update_call(call, &mut self.screen)?,
                PartContent::ToolResult(result) => self.tool_calls.update_result(result, &mut self.screen)?,
                PartContent::File { name, uri, .. } => {
                    let name = name.as_ref().or(uri.as_ref()).map_or("file", String::as_str);
                    self.screen.line(TextStyle::Cyan, &format!("[{name}]"))?;
                }
                PartContent::Image { mime_type, .. } => {
                    self.screen.line(TextStyle::Cyan, &format!("[image, {mime_type}]"))?;
                }
                PartContent::Unparsed { raw, error } => {
                    let raw: String = raw.to_string().chars().take(UNPARSED_CHARS_MAX).collect();
                    self.screen.line(TextStyle::Dim, &format!("[unknown message: {error}] {raw}"))?;
                }
                PartContent::Unknown(_) => {}
            }
        }
        Ok(())
    }

    /// Shows a message that was not typed in this chat.
    fn show_user_message(&mut self, message: &Message) -> CommandResult {
        let author = message.author.as_ref().map_or("user", |author| author.as_str());
        let texts = message.parts.iter().filter_map(|part| match &part.content {
            PartContent::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        self.screen.spans(&[(TextStyle::Cyan, author), (TextStyle::Dim, " > "), (TextStyle::Bold, &text)])
    }

    fn show_delta(&mut self, delta: &MessageDelta) -> CommandResult {
        let key = PartKey { message_id: delta.message_id.clone(), part_id: delta.part_id.clone() };
        match delta.kind {
            // A tool's output is shown once it is complete.
            DeltaKind::ToolOutput => return Ok(()),
            DeltaKind::Reasoning | DeltaKind::Text | DeltaKind::Other => self.start_part(&key)?,
        }
        *self.printed_bytes.entry(key).or_default() += delta.text.len();
        let kind = if delta.kind == DeltaKind::Reasoning { TextKind::Reasoning } else { TextKind::Answer };
        self.print_text(&delta.text, kind)
    }

    /// Prints the part of a text that its deltas did not print.
    fn print_rest(&mut self, key: PartKey, text: &str, kind: TextKind) -> CommandResult {
        let printed = self.printed_bytes.get(&key).copied().unwrap_or_default();
        let Some(rest) = text.get(printed..).filter(|rest| !rest.is_empty()) else { return Ok(()) };
        self.start_part(&key)?;
        self.printed_bytes.insert(key, text.len());
        self.print_text(rest, kind)
    }

    /// Starts a new line for a part of which nothing was printed yet.
    fn start_part(&mut self, key: &PartKey) -> CommandResult {
        if self.printed_bytes.contains_key(key) { Ok(()) } else { self.screen.start_line() }
    }

    fn print_text(&mut self, text: &str, kind: TextKind) -> CommandResult {
        match kind {
            TextKind::Answer => self.screen.print_answer(text),
            TextKind::Reasoning => self.screen.print_aside(TextStyle::Dim, text),
        }
    }

    fn show_plan(&mut self, plan: &AgentPlan) -> CommandResult {
        self.screen.line(TextStyle::Bold, "plan")?;
        for step in &plan.steps {
            let (sign, style) = match step.state {
                PlanStepState::Completed => ("  ☑ ", TextStyle::Dim),
                PlanStepState::InProgress => ("  ◐ ", TextStyle::Yellow),
                PlanStepState::Pending | PlanStepState::Other => ("  ☐ ", TextStyle::Plain),
            };
            self.screen.spans(&[(style, sign), (style, &step.text)])?;
        }
        Ok(())
    }

    fn show_turn_end(&mut self, ended: &TurnEnded) -> CommandResult {
        self.tool_calls.end_turn(&mut self.screen)?;
        self.printed_bytes.clear();
        self.screen.start_line()?;
        match ended.reason {
            TurnEndReason::Completed | TurnEndReason::Other => {}
            TurnEndReason::Interrupted => self.screen.line(TextStyle::Yellow, "– interrupted")?,
            TurnEndReason::Failed => self.screen.line(TextStyle::Red, "✗ the turn failed")?,
            TurnEndReason::MaxTokens => {
                self.screen.line(TextStyle::Yellow, "– the model reached its token limit")?
            }
            TurnEndReason::Refused => self.screen.line(TextStyle::Yellow, "– the model refused to answer")?,
        }
        let Some(usage) = &ended.usage else { return Ok(()) };
        let cost = usage.cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
        let input_tokens = usage.input_tokens + usage.cached_tokens;
        self.screen
            .line(TextStyle::Dim, &format!("{input_tokens} tokens in, {} out{cost}", usage.output_tokens))
    }

    /// Shows the agent, the directory and the session id.
    pub(super) fn show_header(&mut self, session: &Session, resumed: bool) -> CommandResult {
        let Session { id, agent, directory, .. } = session;
        let state = if resumed { "resumed" } else { "new" };
        self.screen.line(TextStyle::Dim, &format!("{agent} in {directory}, {state} session {id}"))
    }
}

fn describe_permission(outcome: PermissionOutcome) -> &'static str {
    match outcome {
        PermissionOutcome::Once => "allowed once",
        PermissionOutcome::Always => "allowed always",
        PermissionOutcome::Reject => "denied",
        PermissionOutcome::Expired => "denied, because nobody answered in time",
        PermissionOutcome::Withdrawn => "withdrawn",
    }
}
