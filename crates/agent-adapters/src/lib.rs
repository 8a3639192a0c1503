//! Driving an agent in the universal vocabulary.
//!
//! An [`Adapter`] is a pure state machine for one process of one session: what the agent says goes in and facts come out,
//! what is asked of the agent goes in and its own words come out. It does no I/O, keeps no clock and mints no ids, so
//! that a recorded run is a test. Whoever runs it ([`Adapted`] says how) carries bytes between it and the agent.
//!
//! There is one for each [`AgentProtocol`], and none for a name: an agent is a row of the catalog.

mod acp;
#[cfg(test)]
mod altered_run;
mod amp;
mod claude;
mod codex;
mod form;
mod lenient;
mod offers;
mod opencode;
#[cfg(test)]
mod replay;
mod stream_json;

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use bytes::Bytes;
use protocol::{
    Event, InputId, Message,
    agents::{AgentMode, AgentProtocol},
    config::McpServer,
    event::{AgentStarted, TokenUsage, TurnEndReason},
    message::{MessagePart, MessageRole, PartContent, ToolKind},
    sessions::{AgentError, MessageAttachment, PermissionMode},
    wait::{PermissionAnswer, QuestionItem},
};
use secrecy::SecretString;
use serde_json::Value;

pub use offers::{Offers, fixed_modes, with_build};

/// One process of one session, in the agent's own protocol.
pub trait Adapter: Send {
    /// The agent is there: what is said to it first. It is told nothing else before [`Fact::Ready`].
    fn start(&mut self, out: &mut Out);

    /// A person's message is about to begin a turn. What the agent said without a turn is complete now: what it says in the
    /// turn is another message.
    fn turn_begins(&mut self, _: &mut Out) {}

    /// The agent said something.
    fn hear(&mut self, heard: Heard<'_>, out: &mut Out);

    /// Something is asked of the agent.
    fn tell(&mut self, order: Order, out: &mut Out);

    /// Whether the agent accepts a message during a turn ([`Order::Steer`]).
    fn steers(&self) -> bool {
        true
    }
}

/// What an agent said.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'a> {
    /// A line of its output without the line end, or the data of one event of its stream.
    Line(&'a [u8]),
    /// A line that was too long to be kept.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
    /// The answer to a [`Call`].
    Answer {
        /// The call.
        call: u64,
        /// The HTTP status; 0 if there was no answer.
        status: u16,
        /// What it says.
        body: &'a [u8],
    },
}

/// What is asked of an agent.
#[derive(Debug, Clone)]
pub enum Order {
    /// Begin a turn. Not while one runs.
    Prompt(Prompt),
    /// Take this into the turn that runs.
    Steer(Prompt),
    /// End the turn that runs.
    Interrupt,
    /// The answer to what the agent asked under `key` ([`Fact::Asked`]).
    Answer {
        /// What the adapter called it.
        key: String,
        /// The answer.
        reply: Reply,
    },
}

/// What somebody says to an agent.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Its name; [`Fact::Consumed`] refers to it.
    pub id: InputId,
    /// What it says.
    pub text: String,
    /// What goes with it.
    pub attachments: Vec<MessageAttachment>,
}

/// The answer to what an agent asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To a permission.
    Permission(PermissionAnswer),
    /// To a question: for each of them what was chosen. To a plan: its only answer is [`protocol::wait::APPROVE`] or
    /// anything else, which is told to the agent.
    Answers(Vec<Vec<String>>),
    /// Somebody does not want to answer, or nobody did in time.
    Dismissed,
}

/// What comes of hearing or telling something: what is said to the agent, and what is now known.
#[derive(Debug, Default)]
pub struct Out {
    /// What is said to the agent, in that order.
    pub says: Vec<Saying>,
    /// What is now known, in that order.
    pub facts: Vec<Fact>,
}

/// Something that is said to an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Saying {
    /// A line to its input, without the line end.
    Line(Bytes),
    /// A request to its server.
    Call(Call),
    /// A SIGINT to its process.
    Interrupt,
    /// The end of its input.
    Close,
}

/// A request to an agent's server.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What the answer refers to.
    pub id: u64,
    /// The method: `GET`, `POST`, …
    pub method: &'static str,
    /// The path with its query.
    pub path: String,
    /// The body, if there is one.
    pub body: Option<Value>,
}

/// Something that is known of an agent.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fact {
    /// It can be told things.
    Ready,
    /// It has said who it is. Told once for each process, as soon as the session's name is known.
    Started {
        /// What it calls the session; with this it can go on with it later.
        agent_session_id: Option<String>,
        /// The rest.
        started: AgentStarted,
    },
    /// What it offers to choose from. Told before [`Fact::Ready`].
    Offers(Offers),
    /// Something happened that needs no further thought: a message, a delta, a status, a plan, commands, an error.
    Event(Event),
    /// It works without something that the session has for it.
    Warning(AgentError),
    /// It has begun a turn without being told to.
    TurnStarted,
    /// It works on what it was told.
    Consumed(InputId),
    /// It did not take what it was told.
    Refused {
        /// What that was.
        input: InputId,
        /// Why.
        reason: String,
    },
    /// It asks.
    Asked {
        /// What the answer refers to.
        key: String,
        /// What it asks.
        asking: Asking,
    },
    /// It no longer asks.
    Withdrawn {
        /// What it asked.
        key: String,
    },
    /// The turn is over; all that is still open of it is moot.
    TurnEnded {
        /// Why.
        reason: TurnEndReason,
        /// What it took.
        usage: Option<TokenUsage>,
        /// What went wrong.
        error: Option<AgentError>,
    },
    /// It cannot be used as it was started; instead of [`Fact::Ready`].
    Failed(AgentError),
    /// It is about to end by itself, which is no failure.
    Leaving,
}

/// What an agent asks.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Asking {
    /// Whether it may do something.
    Permission(PermissionAsk),
    /// What it wants to know, or whether its plan is approved.
    Question(QuestionAsk),
}

/// An agent asks whether it may do something; the fields are those of [`protocol::wait::PermissionRequest`].
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "see above")]
pub struct PermissionAsk {
    pub call_id: Option<String>,
    pub tool: String,
    pub kind: ToolKind,
    pub title: String,
    pub reason: Option<String>,
    pub input: Value,
    pub always_allows: Vec<String>,
}

/// An agent asks a person; the fields are those of [`protocol::wait::QuestionRequest`].
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "see above")]
pub struct QuestionAsk {
    pub call_id: Option<String>,
    pub questions: Vec<QuestionItem>,
    pub plan: Option<String>,
}

/// How a session wants its agent to be.
#[derive(Debug, Clone)]
pub struct Options {
    /// Tells what this process says from what earlier ones said: the ids of messages that the agent does not name begin
    /// with it.
    pub run: String,
    /// The directory that the agent works in.
    pub directory: PathBuf,
    /// A directory of the session's own, for files that only the agent reads.
    pub private: PathBuf,
    /// How the agent behaves.
    pub agent_mode: String,
    /// What it may do.
    pub permission_mode: PermissionMode,
    /// The model.
    pub model: Option<String>,
    /// The variant of the model.
    pub variant: Option<String>,
    /// The key to its model, of the session or of a variable. It is for agents that take none from their environment.
    pub token: Option<SecretString>,
    /// What the agent called the session when it was last started.
    pub resume: Option<String>,
    /// The MCP servers that it may use, by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// Directories that hold one skill each, by the name of the skill.
    pub skills: BTreeMap<String, PathBuf>,
    /// The modes of the agent as the catalog has them, for a protocol in which the agent cannot tell.
    pub modes: Vec<AgentMode>,
    /// Whether the agent is asked for its models although none is chosen.
    pub asks_models: bool,
}

/// An agent that can be driven: by whom, and how it is started.
pub struct Adapted {
    /// Who drives it.
    pub adapter: Box<dyn Adapter>,
    /// How it is spoken to.
    pub transport: Transport,
    /// Arguments after those of the catalog.
    pub args: Vec<OsString>,
    /// Variables besides those of the catalog.
    pub env: BTreeMap<String, OsString>,
    /// Files that are written before it is started, readable for nobody else.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

/// How an agent is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A process for each session, in lines on its standard streams.
    Lines,
    /// One server for many sessions, over HTTP, with one stream of events.
    Server,
}

/// An agent that speaks `protocol`, driven as `options` say.
///
/// # Errors
/// [`AgentError::Unsupported`] if it cannot be as they say.
pub fn adapt(protocol: AgentProtocol, options: &Options) -> Result<Adapted, AgentError> {
    match protocol {
        AgentProtocol::Acp => acp::adapt(options),
        AgentProtocol::Amp => amp::adapt(options),
        AgentProtocol::Claude => claude::adapt(options),
        AgentProtocol::Codex => codex::adapt(options),
        AgentProtocol::Opencode => opencode::adapt(options),
    }
}

/// An agent works without an MCP server.
pub(crate) fn mcp_unavailable(server: &str, message: impl Into<String>) -> Fact {
    Fact::Warning(AgentError::McpUnavailable { server: server.into(), message: message.into() })
}

/// An agent cannot do something.
pub(crate) fn unsupported(feature: &str, message: impl Into<String>) -> AgentError {
    AgentError::Unsupported { feature: feature.into(), message: message.into() }
}

impl Out {
    /// Says a JSON value in one line.
    pub(crate) fn line(&mut self, value: &Value) {
        self.says.push(Saying::Line(value.to_string().into()));
    }

    /// Notes an event.
    pub(crate) fn event(&mut self, event: Event) {
        self.facts.push(Fact::Event(event));
    }

    /// Notes something that the agent said and we did not understand: a message of its own, named `id`.
    pub(crate) fn unparsed(&mut self, id: String, said: &[u8], error: impl Into<String>) {
        let raw = serde_json::from_slice(said).unwrap_or_else(|_| String::from_utf8_lossy(said).into());
        let content = PartContent::Unparsed { raw, error: error.into() };
        self.event(Event::Message(Message::new(
            id,
            MessageRole::System,
            vec![MessagePart { id: "0".into(), content }],
        )));
    }
}

/// Whether an agent failed because its key is missing, wrong or spent.
pub(crate) fn is_token_error(status: Option<u16>, message: &str) -> bool {
    const SIGNS: [&str; 7] = [
        "authentication_error",
        "authentication required",
        "invalid api key",
        "invalid_api_key",
        "not logged in",
        "please run /login",
        "unauthorized",
    ];
    let said = message.to_ascii_lowercase();
    matches!(status.or_else(|| status_in(message)), Some(401 | 403))
        || SIGNS.iter().any(|sign| said.contains(sign))
}

/// The HTTP status that a message names, for agents that tell it in no other way: a number from 400 to 599 by itself.
pub(crate) fn status_in(message: &str) -> Option<u16> {
    let numbers = message.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut statuses = numbers.filter(|word| word.len() == 3).filter_map(|word| word.parse::<u16>().ok());
    statuses.find(|status| (400..600).contains(status))
}
