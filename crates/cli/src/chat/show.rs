//! What happens in a session, as it is shown.

mod errors;
mod tools;

use std::collections::{HashMap, HashSet};

use protocol::{
    Event, EventRecord, InputId, Message,
    event::{AgentPlan, InputState, PlanStepState, TurnEndReason, TurnEnded},
    message::{DeltaKind, MessageDelta, MessageRole, PartContent},
    sessions::Session,
    wait::{PermissionOutcome, QuestionOutcome},
};

use super::screen::{Look, Screen};
use crate::exit::Outcome;
use tools::Tools;

pub(super) use errors::describe;

/// The most of something that was not understood that is shown.
const UNPARSED_CHARS_MAX: usize = 200;

/// What is shown of a session.
pub(super) struct Show {
    pub(super) screen: Screen,
    /// How many bytes of each text are shown, by its message and part.
    shown: HashMap<(String, String), usize>,
    tools: Tools,
    /// What was typed here, which need not be shown again.
    own: HashSet<InputId>,
    greeted: bool,
}

impl Show {
    pub(super) fn new(screen: Screen) -> Self {
        Self { screen, shown: HashMap::new(), tools: Tools::default(), own: HashSet::new(), greeted: false }
    }

    /// This was typed here.
    pub(super) fn own(&mut self, input: InputId) {
        self.own.insert(input);
    }

    /// Shows one event.
    pub(super) fn record(&mut self, record: &EventRecord) -> Outcome {
        match &record.event {
            Event::Started(started) if !self.greeted => {
                self.greeted = true;
                let parts = [started.version.as_deref(), started.model.as_deref(), started.mode.as_deref()];
                let parts: Vec<_> = parts.into_iter().flatten().collect();
                self.screen.line(Look::Dim, &format!("{} {}", record.agent, parts.join(" · ")))
            }
            Event::Message(message) => self.message(message),
            Event::MessageDelta(delta) => self.delta(delta),
            Event::Plan(plan) => self.plan(plan),
            Event::Error(error) => {
                let (what, todo) = describe(error, &record.agent);
                self.screen.line(Look::Red, &format!("✗ {what}"))?;
                todo.map_or(Ok(()), |todo| self.screen.line(Look::Dim, &format!("  {todo}")))
            }
            Event::Input(receipt) => match (receipt.state, &receipt.reason) {
                (InputState::Refused, reason) => {
                    let reason = reason.as_deref().unwrap_or("the agent did not take it");
                    self.screen.line(Look::Red, &format!("✗ not delivered: {reason}"))
                }
                _ => Ok(()),
            },
            Event::Status(status) => {
                status.detail.as_ref().map_or(Ok(()), |detail| self.screen.line(Look::Dim, detail))
            }
            Event::PermissionResolved(resolved) => {
                let how = match resolved.outcome {
                    PermissionOutcome::Once => "allowed once",
                    PermissionOutcome::Always => "allowed always",
                    PermissionOutcome::Reject => "rejected",
                    PermissionOutcome::Expired => "not answered in time, so rejected",
                    PermissionOutcome::Withdrawn => "no longer asked",
                };
                self.settled(how, resolved.author.as_ref())
            }
            Event::QuestionResolved(resolved) => {
                let how = match &resolved.outcome {
                    QuestionOutcome::Answered(answers) => {
                        format!("answered: {}", answers.concat().join(", "))
                    }
                    QuestionOutcome::Rejected => "rejected".into(),
                    QuestionOutcome::Expired => "not answered in time".into(),
                    QuestionOutcome::Withdrawn => "no longer asked".into(),
                };
                self.settled(&how, resolved.author.as_ref())
            }
            Event::TurnEnded(ended) => self.turn_ended(ended),
            _ => Ok(()),
        }
    }

    /// Shows a message of before.
    pub(super) fn past(&mut self, message: &Message) -> Outcome {
        match message.role {
            MessageRole::User => self.said(message),
            _ => self.message(message),
        }?;
        self.screen.fresh()
    }

    fn settled(&mut self, how: &str, author: Option<&protocol::Author>) -> Outcome {
        let by = author.map(|author| format!(" (by {author})")).unwrap_or_default();
        self.screen.line(Look::Dim, &format!("  {how}{by}"))
    }

    fn message(&mut self, message: &Message) -> Outcome {
        if message.role == MessageRole::User {
            let own = message.id.parse().is_ok_and(|input| self.own.remove(&input));
            return if own { Ok(()) } else { self.said(message) };
        }
        for part in &message.parts {
            let place = || (message.id.clone(), part.id.clone());
            match &part.content {
                PartContent::Text { text } => self.rest(place(), text, false)?,
                PartContent::Reasoning { text } => self.rest(place(), text, true)?,
                PartContent::ToolCall(call) => self.tools.call(call, &mut self.screen)?,
                PartContent::ToolResult(result) => self.tools.result(result, &mut self.screen)?,
                PartContent::File { name, uri, .. } => {
                    let name = name.as_ref().or(uri.as_ref()).map_or("a file", String::as_str);
                    self.screen.line(Look::Cyan, &format!("[{name}]"))?;
                }
                PartContent::Image { mime_type, .. } => {
                    self.screen.line(Look::Cyan, &format!("[a picture, {mime_type}]"))?;
                }
                PartContent::Unparsed { raw, error } => {
                    let raw: String = raw.to_string().chars().take(UNPARSED_CHARS_MAX).collect();
                    self.screen.line(Look::Dim, &format!("[not understood: {error}] {raw}"))?;
                }
                PartContent::Unknown(_) => {}
            }
        }
        Ok(())
    }

    /// What somebody else sent, or what was sent before.
    fn said(&mut self, message: &Message) -> Outcome {
        let author = message.author.as_ref().map_or("user", |author| author.as_str());
        let texts = message.parts.iter().filter_map(|part| match &part.content {
            PartContent::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        self.screen.spans(&[(Look::Cyan, author), (Look::Dim, " > "), (Look::Bold, &text)])
    }

    fn delta(&mut self, delta: &MessageDelta) -> Outcome {
        let place = (delta.message_id.clone(), delta.part_id.clone());
        match delta.kind {
            // What a tool gives is shown when it has given all.
            DeltaKind::ToolOutput => return Ok(()),
            DeltaKind::Reasoning | DeltaKind::Text | DeltaKind::Other => self.open(&place)?,
        }
        *self.shown.entry(place).or_default() += delta.text.len();
        self.put(&delta.text, delta.kind == DeltaKind::Reasoning)
    }

    /// Shows what of a text is not shown yet.
    fn rest(&mut self, place: (String, String), text: &str, thought: bool) -> Outcome {
        let before = self.shown.get(&place).copied().unwrap_or_default();
        let Some(rest) = text.get(before..).filter(|rest| !rest.is_empty()) else { return Ok(()) };
        self.open(&place)?;
        self.shown.insert(place, text.len());
        self.put(rest, thought)
    }

    /// A new text begins on a new line.
    fn open(&mut self, place: &(String, String)) -> Outcome {
        if self.shown.contains_key(place) { Ok(()) } else { self.screen.fresh() }
    }

    fn put(&mut self, text: &str, thought: bool) -> Outcome {
        if thought { self.screen.aside(Look::Dim, text) } else { self.screen.text(text) }
    }

    fn plan(&mut self, plan: &AgentPlan) -> Outcome {
        self.screen.line(Look::Bold, "plan")?;
        for step in &plan.steps {
            let (sign, look) = match step.state {
                PlanStepState::Completed => ("  ☑ ", Look::Dim),
                PlanStepState::InProgress => ("  ◐ ", Look::Yellow),
                PlanStepState::Pending | PlanStepState::Other => ("  ☐ ", Look::Plain),
            };
            self.screen.spans(&[(look, sign), (look, &step.text)])?;
        }
        Ok(())
    }

    fn turn_ended(&mut self, ended: &TurnEnded) -> Outcome {
        self.tools.end(&mut self.screen)?;
        self.shown.clear();
        self.screen.fresh()?;
        match ended.reason {
            TurnEndReason::Completed | TurnEndReason::Other => {}
            TurnEndReason::Interrupted => self.screen.line(Look::Yellow, "– interrupted")?,
            TurnEndReason::Failed => self.screen.line(Look::Red, "✗ the turn failed")?,
            TurnEndReason::MaxTokens => {
                self.screen.line(Look::Yellow, "– the model reached its limit of tokens")?
            }
            TurnEndReason::Refused => self.screen.line(Look::Yellow, "– the model refused")?,
        }
        let Some(usage) = &ended.usage else { return Ok(()) };
        let cost = usage.cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
        let read = usage.input_tokens + usage.cached_tokens;
        self.screen.line(Look::Dim, &format!("{read} tokens in, {} out{cost}", usage.output_tokens))
    }

    /// Says where one is.
    pub(super) fn greet(&mut self, session: &Session, resumed: bool) -> Outcome {
        let Session { id, agent, directory, .. } = session;
        let what = if resumed { "goes on" } else { "is new" };
        self.screen.line(Look::Dim, &format!("{agent} in {directory}; session {id} {what}"))
    }
}
