//! `tombolo api sessions`.

mod create;
mod events;
mod export;
mod send;
mod view;

pub(crate) use view::{list, session_card};

use clap::Subcommand;
use client::{Client, EventPageOptions, SessionListOptions};
use jiff::Timestamp;
use protocol::{
    AgentName, Author, InputId, SessionId, WaitId,
    sessions::{AgentError, AnswerPermissionRequest, AnswerQuestionRequest, EditInputRequest},
};

use super::{input, operations::mirrors};
use crate::{
    answer_word,
    chat::resolve_directory,
    duration,
    exit::{CommandError, CommandResult},
    output::{CommandOutput, card, or_dash, yes_no},
    server_args::RequestCommand,
};

pub(crate) use create::permission_mode;
use export::ExportFormat;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, most recently used first
    #[command(after_help = "\
With several options, only the sessions that match all of them are listed.

Examples:
  tombolo api sessions list
  tombolo api sessions list --since 24h --agent claude --directory .
  tombolo api sessions list --state waiting --json | jq -r '.items[].id'")]
    List {
        /// List sessions that were used within this time (24h), or since this moment (2026-01-31T08:00:00Z)
        #[arg(long, value_name = "TIME", value_parser = parse_since)]
        since: Option<Timestamp>,
        /// List sessions of this agent
        #[arg(long)]
        agent: Option<AgentName>,
        /// List sessions in exactly this directory of the sandbox
        #[arg(long, short)]
        directory: Option<String>,
        /// List sessions in this state
        #[arg(long, value_parser = ["dormant", "starting", "idle", "running", "waiting", "ended"])]
        state: Option<String>,
    },
    /// Create a session and start its agent, installing the agent if needed
    #[command(after_help = "\
Creating an existing session again with the same options succeeds and changes nothing; with other
options it fails, unless the agent could not be started and nothing was said in the session: then
the session is replaced. The exit code is 6 if the agent is not ready. The model API key is read
from a file or from standard input (`-`), never from the command line.

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
    /// Send a message to the agent; the reply arrives as events, and with --wait on standard output
    #[command(after_help = "\
With --wait the command prints the agent's last message of the turn, with --json as the API has it.
A turn that does not complete is a failure: exit code 8 if it failed, 9 if it was interrupted, 10 if
the model refused to answer, 11 at its token limit.

Examples:
  tombolo api sessions send demo --wait 'Why does the test fail?'
  tombolo api sessions send demo --when-busy steer 'Look at the log first'
  git diff | tombolo api sessions send demo - --idempotency-key \"$(uuidgen)\"")]
    Send(Box<send::SendArgs>),
    /// Print the messages of a session, oldest first
    #[command(
        visible_alias = "get-messages",
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
    /// Print a whole session with its times, as a document or as one message per line
    #[command(after_help = "\
Examples:
  tombolo api sessions export demo --markdown > demo.md
  tombolo api sessions export demo --jsonl | jq -r '[.createdAt, .role] | @tsv'")]
    Export {
        /// The session
        id: SessionId,
        /// Print a Markdown document; this is the default
        #[arg(long, conflicts_with = "jsonl")]
        markdown: bool,
        /// Print each message as one line of JSON, with `createdAt`
        #[arg(long)]
        jsonl: bool,
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
    /// Answer a permission request with allow once, allow always or deny
    #[command(after_help = "\
Examples:
  tombolo api sessions permit demo wat_… allow once
  tombolo api sessions permit demo wat_… deny")]
    Permit {
        /// The session
        id: SessionId,
        /// The id of the permission request
        permission: WaitId,
        /// The answer: allow once, allow always or deny
        #[arg(num_args = 1..=2, required = true)]
        reply: Vec<String>,
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
    Export = "export" GET "/v1/sessions/{id}/events";
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
            SessionsCommand::List { since, agent, directory, state } => {
                let directory = directory.map(|directory| resolve_directory(&directory, client.endpoint()));
                let directory = directory.transpose()?;
                let options = SessionListOptions { since, agent, directory, state };
                output.answer(&sessions.list(&options).await?, view::list)
            }
            SessionsCommand::Create(args) => {
                let (id, create) = args.into_request().await?;
                let answer = sessions.create(&id, &create).await?;
                output.answer(&answer, |created| {
                    card([
                        ("healthy", yes_no(created.healthy)),
                        ("error", or_dash(created.error.as_ref().map(view::agent_error))),
                        ("warnings", or_dash(warnings(&created.warnings))),
                        ("agent session", or_dash(created.agent_session_id)),
                    ])
                })?;
                if answer.read()?.healthy {
                    return Ok(());
                }
                let how = "the agent is not ready; correct the options and create the session again".into();
                Err(CommandError::AgentEnded { how, last_words: String::new() })
            }
            SessionsCommand::Get { id } => {
                output.answer(&sessions.get(&id).await?, |session| view::session_card(&session))
            }
            SessionsCommand::Delete { id } => {
                sessions.delete(&id).await?;
                output.done(&format!("deleted session {id}"))
            }
            SessionsCommand::Send(args) => args.run(client, output).await,
            SessionsCommand::Messages { id, cursor, limit } => {
                events::print_messages(client, &id, cursor, limit, output).await
            }
            SessionsCommand::Export { id, jsonl, markdown: _ } => {
                let format = if jsonl { ExportFormat::JsonLines } else { ExportFormat::Markdown };
                export::export(client, &id, format, output).await
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
                let reply = answer_word::parse_arguments(&reply).map_err(CommandError::Usage)?;
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

/// A moment, or how long it is ago.
fn parse_since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let ago = duration::parse(text)
        .map_err(|_| "write how long ago, such as 24h or 7d, or a time such as 2026-01-31T08:00:00Z")?;
    Timestamp::now().checked_sub(ago).map_err(|_| "that is too long ago".into())
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
