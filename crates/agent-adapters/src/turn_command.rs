//! Commands of a session to its agent.

use protocol::{InputId, sessions::MessageAttachment, wait::PermissionAnswer};

/// A command to an agent.
#[derive(Debug, Clone)]
pub enum Order {
    /// Begin a turn. Not sent while one runs.
    Prompt(Prompt),
    /// Add this to the running turn.
    Steer(Prompt),
    /// End the running turn.
    Interrupt,
    /// Answer the request `key` of the agent ([`Fact::Asked`](crate::Fact::Asked)).
    Answer {
        /// The adapter's key of the request.
        key: String,
        /// The answer.
        reply: Reply,
    },
}

/// A user's message to an agent.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The input's id; [`Fact::Consumed`](crate::Fact::Consumed) refers to it.
    pub id: InputId,
    /// The text of the message.
    pub text: String,
    /// Its attachments.
    pub attachments: Vec<MessageAttachment>,
}

/// The answer to a request of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To a request for permission.
    Permission(PermissionAnswer),
    /// To questions: the chosen labels of each. A plan has one answer: [`protocol::wait::APPROVE`], or any other text, which
    /// is feedback for the agent.
    Answers(Vec<Vec<String>>),
    /// The user declined to answer, or the request timed out.
    Dismissed,
}
