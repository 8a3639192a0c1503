//! `tombolo api sessions`.

mod create;
mod events;
mod send;
mod view;

pub(crate) use view::list;

use clap::Subcommand;
use client::{Client, EventPageOptions};
use protocol::{
    Author, InputId, SessionId, WaitId,
    sessions::{AgentError, AnswerPermissionRequest, AnswerQuestionRequest, EditInputRequest},
    wait::PermissionAnswer,
};

use super::{input, operations::mirrors};
use crate::{
    exit::{CommandError, CommandResult},
    output::{CommandOutput, card, or_dash, yes_no},
    server_args::RequestCommand,
};

pub(crate) use create::permission_mode;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, most recently used first
    #[command(
        after_help = "Examples:\n  tombolo api sessions list\n  tombolo api sessions list --json | jq -r '.items[].id'"
    )]
    List,
    /// Create a session and start its agent, installing the agent if needed
    #[command(after_help = "\
Creating an existing session again with the same options succeeds and changes nothing; with other
options it fails. The model API key is read from a file or from standard input (`-`), never from the
command line.

Examples:
  tombolo api sessions create demo --agent mock
  tombolo api sessions create fix --agent claude --model opus --permission-mode plan --directory /w")]
    Create(Box<create::CreateArgs>),
    /// Show one session
    #[command(after_help = "Examples:\n  tombolo api sessions get demo")]
    Get {
        /// The session
        id: SessionId,
    },
    /// Stop the agent of a session, and delete the session with its history
    #[command(after_help = "Examples:\n  tombolo api sessions delete demo")]
    Delete {
        /// The session; deleting one that does not exist succeeds
        id: SessionId,
    },
    /// Send a message to the agent; the reply arrives as events
    #[command(after_help = "\
Examples:
  tombolo api sessions send demo 'Why does the test fail?'
  tombolo api sessions send demo --when-busy steer 'Look at the log first'
  git diff | tombolo api sessions send demo - --idempotency-key \"$(uuidgen)\"")]
    Send(Box<send::SendArgs>),
    /// Print the messages of a session, oldest first
    #[command(
        after_help = "Examples:\n  tombolo api sessions messages demo\n  tombolo api sessions messages demo --limit 50 --json"
    )]
    Messages {
        /// The session
        id: SessionId,
        /// Continue after the page that returned this `nextCursor`
        #[arg(long)]
        cursor: Option<String>,
        /// Print at most this many messages [default: all]
        #[arg(long, value_name = "COUNT")]
        limit: Option<u32>,
    },
    /// List the queued messages
    #[command(after_help = "Examples:\n  tombolo api sessions inputs demo")]
    Inputs {
        /// The session
        id: SessionId,
    },
    /// Change the text of a queued message
    #[command(after_help = "Examples:\n  tombolo api sessions edit demo inp_… 'No, the other test'")]
    Edit {
        /// The session
        id: SessionId,
        /// The id of the queued message
        input: InputId,
        /// The new text; `-` or nothing reads standard input
        message: Option<String>,
        /// Record this name as the author of the change
        #[arg(long)]
        author: Option<Author>,
    },
    /// Remove a queued message
    #[command(after_help = "Examples:\n  tombolo api sessions withdraw demo inp_…")]
    Withdraw {
        /// The session
        id: SessionId,
        /// The id of the queued message
        input: InputId,
    },
    /// Print the events of a session, and with --follow also new ones as they happen
    #[command(after_help = "\
With --json the response page is printed unchanged; with --follow each event is one line of JSON. A
lost connection is re-established and continues after the last event. The command ends when the
session is deleted.

Examples:
  tombolo api sessions events demo
  tombolo api sessions events demo --follow --offset 12
  tombolo api sessions events demo --follow --json | jq -c .event")]
    Events {
        /// The session
        id: SessionId,
        /// Print only events after the one with this number
        #[arg(long, value_name = "EVENT", default_value_t = 0)]
        offset: u64,
        /// Print at most this many events [default: all]
        #[arg(long, value_name = "COUNT", conflicts_with = "follow")]
        limit: Option<u32>,
        /// Include the agent's own message for each event
        #[arg(long)]
        include_raw: bool,
        /// Keep running and print new events
        #[arg(long, short)]
        follow: bool,
    },
    /// Print the events of a session as they happen; the same as `events --follow`
    #[command(after_help = "Examples:\n  tombolo api sessions stream demo --offset 12")]
    Stream {
        /// The session
        id: SessionId,
        /// Print only events after the one with this number
        #[arg(long, value_name = "EVENT", default_value_t = 0)]
        offset: u64,
        /// Include the agent's own message for each event
        #[arg(long)]
        include_raw: bool,
    },
    /// Print the current state of a session: its messages, queued messages and open waits
    #[command(after_help = "Examples:\n  tombolo api sessions snapshot demo --json | jq .seq")]
    Snapshot {
        /// The session
        id: SessionId,
    },
    /// Interrupt the running turn, if there is one
    #[command(after_help = "Examples:\n  tombolo api sessions cancel demo")]
    Cancel {
        /// The session
        id: SessionId,
    },
    /// Answer a question, or approve a plan
    #[command(after_help = "\
Give one --answer per question, in their order. Separate several choices with commas.

Examples:
  tombolo api sessions answer demo wat_… --answer Approve
  tombolo api sessions answer demo wat_… --answer Postgres --answer 'tests,docs'
  tombolo api sessions answer demo wat_… --answers '[[\"a, b\"]]'")]
    Answer {
        /// The session
        id: SessionId,
        /// The id of the question
        question: WaitId,
        /// The answer to the next question; may be repeated
        #[arg(long, value_name = "CHOICES", required_unless_present = "answers")]
        answer: Vec<String>,
        /// All answers as JSON: an array of strings per question
        #[arg(long, value_name = "JSON", conflicts_with = "answer")]
        answers: Option<String>,
        /// Record this name as the author of the answer
        #[arg(long)]
        author: Option<Author>,
    },
    /// Reject a question or a plan without answering it
    #[command(after_help = "Examples:\n  tombolo api sessions reject demo wat_…")]
    Reject {
        /// The session
        id: SessionId,
        /// The id of the question
        question: WaitId,
        /// Record this name as the author of the rejection
        #[arg(long)]
        author: Option<Author>,
    },
    /// Answer a permission request with once, always or reject
    #[command(after_help = "Examples:\n  tombolo api sessions permit demo wat_… once")]
    Permit {
        /// The session
        id: SessionId,
        /// The id of the permission request
        permission: WaitId,
        /// The answer: once, always or reject
        #[arg(value_parser = parse_permission_answer)]
        reply: PermissionAnswer,
        /// Record this name as the author of the answer
        #[arg(long)]
        author: Option<Author>,
    },
}

mirrors! { SessionsCommand:
    List = "list" GET "/v1/sessions";
    Create = "create" POST "/v1/sessions/{id}";
    Get = "get" GET "/v1/sessions/{id}";
    Delete = "delete" DELETE "/v1/sessions/{id}";
    Send = "send" POST "/v1/sessions/{id}/messages";
    Messages = "messages" GET "/v1/sessions/{id}/messages";
    Inputs = "inputs" GET "/v1/sessions/{id}/inputs";
    Edit = "edit" PUT "/v1/sessions/{id}/inputs/{input_id}";
    Withdraw = "withdraw" DELETE "/v1/sessions/{id}/inputs/{input_id}";
    Events = "events" GET "/v1/sessions/{id}/events";
    Stream = "stream" GET "/v1/sessions/{id}/events/sse";
    Snapshot = "snapshot" GET "/v1/sessions/{id}/snapshot";
    Cancel = "cancel" POST "/v1/sessions/{id}/cancel";
    Answer = "answer" POST "/v1/sessions/{id}/questions/{question_id}/reply";
    Reject = "reject" POST "/v1/sessions/{id}/questions/{question_id}/reject";
    Permit = "permit" POST "/v1/sessions/{id}/permissions/{permission_id}/reply";
}

impl RequestCommand for SessionsCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let sessions = client.sessions();
        match self {
            SessionsCommand::List => output.answer(&sessions.list().await?, view::list),
            SessionsCommand::Create(args) => {
                let (id, create) = args.into_request().await?;
                output.answer(&sessions.create(&id, &create).await?, |created| {
                    card([
                        ("healthy", yes_no(created.healthy)),
                        ("error", or_dash(created.error.as_ref().map(view::agent_error))),
                        ("warnings", or_dash(warnings(&created.warnings))),
                        ("agent session", or_dash(created.agent_session_id)),
                    ])
                })
            }
            SessionsCommand::Get { id } => {
                output.answer(&sessions.get(&id).await?, |session| view::session_card(&session))
            }
            SessionsCommand::Delete { id } => {
                sessions.delete(&id).await?;
                output.done(&format!("deleted session {id}"))
            }
            SessionsCommand::Send(args) => {
                let (id, send, key) = args.into_request(output).await?;
                output.answer(&sessions.send(&id, &send, key.as_ref()).await?, |sent| view::sent(&sent))
            }
            SessionsCommand::Messages { id, cursor, limit } => {
                events::print_messages(client, &id, cursor, limit, output).await
            }
            SessionsCommand::Inputs { id } => output.answer(&sessions.inputs(&id).await?, view::inputs),
            SessionsCommand::Edit { id, input, message, author } => {
                let message = input::text(message, output).await?;
                sessions.edit(&id, input, &EditInputRequest { message, author }).await?;
                output.done(&format!("changed message {input}"))
            }
            SessionsCommand::Withdraw { id, input } => {
                sessions.withdraw(&id, input).await?;
                output.done(&format!("removed message {input} from the queue"))
            }
            SessionsCommand::Events { id, offset, include_raw, follow: true, .. }
            | SessionsCommand::Stream { id, offset, include_raw } => {
                events::follow(client, &id, offset, include_raw, output).await
            }
            SessionsCommand::Events { id, offset, limit, include_raw, follow: false } => {
                events::print_page(client, &id, EventPageOptions { offset, limit, include_raw }, output).await
            }
            SessionsCommand::Snapshot { id } => {
                output.answer(&sessions.snapshot(&id).await?, |snapshot| view::snapshot(&snapshot))
            }
            SessionsCommand::Cancel { id } => {
                sessions.cancel(&id).await?;
                output.done("interrupted the running turn")
            }
            SessionsCommand::Answer { id, question, answer, answers, author } => {
                let answers = parse_answers(answer, answers)?;
                sessions.answer(&id, question, &AnswerQuestionRequest { answers, author }).await?;
                output.done(&format!("answered {question}"))
            }
            SessionsCommand::Reject { id, question, author } => {
                sessions.reject(&id, question, author).await?;
                output.done(&format!("rejected {question}"))
            }
            SessionsCommand::Permit { id, permission, reply, author } => {
                sessions.permit(&id, permission, &AnswerPermissionRequest { reply, author }).await?;
                output.done(&format!("answered {permission}"))
            }
        }
    }
}

/// The warnings of a new session, in one line.
fn warnings(warnings: &[AgentError]) -> Option<String> {
    let all: Vec<_> = warnings.iter().map(view::agent_error).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The choices for each question, from repeated `--answer` options or from `--answers` as JSON.
pub(super) fn parse_answers(
    each: Vec<String>,
    all: Option<String>,
) -> Result<Vec<Vec<String>>, CommandError> {
    let Some(json) = all else {
        let split = |answer: String| answer.split(',').map(|choice| choice.trim().to_owned()).collect();
        return Ok(each.into_iter().map(split).collect());
    };
    serde_json::from_str(&json).map_err(|error| {
        CommandError::Usage(format!("--answers is not a JSON array of arrays of strings: {error}"))
    })
}

fn parse_permission_answer(text: &str) -> Result<PermissionAnswer, &'static str> {
    serde_json::from_value(text.into()).map_err(|_| "use once, always or reject")
}
