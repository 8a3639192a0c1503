//! `tombolo api sessions`.

mod create;
mod events;
mod say;
mod view;

pub(crate) use view::list;

use clap::Subcommand;
use client::{Client, Pages};
use protocol::{
    Author, InputId, SessionId, WaitId,
    sessions::{Edit, PermissionReply, QuestionReply},
    wait::PermissionAnswer,
};

use super::{
    input,
    operations::{Operation, mirrors},
};
use crate::{
    exit::{Failure, Outcome},
    output::{Output, card, or_dash, yes_no},
};

pub(crate) use create::permission_mode;
pub(crate) use view::ask;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the sessions, the one that was used last first
    #[command(
        after_help = "Examples:\n  tombolo api sessions list\n  tombolo api sessions list --json | jq -r '.items[].id'"
    )]
    List,
    /// Create a session and start its agent, which is installed if it is missing
    #[command(after_help = "\
The same again finds the session; with other options it is refused. A key of the agent is read from
a file or from standard input (`-`), never from the command line.

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
    /// End a session and its agent, and forget it
    #[command(after_help = "Examples:\n  tombolo api sessions delete demo")]
    Delete {
        /// The session; it need not be there
        id: SessionId,
    },
    /// Send a message; what comes of it is among the events
    #[command(after_help = "\
Examples:
  tombolo api sessions send demo 'Why does the test fail?'
  tombolo api sessions send demo --when-busy steer 'Look at the log first'
  git diff | tombolo api sessions send demo - --idempotency-key \"$(uuidgen)\"")]
    Send(Box<say::SendArgs>),
    /// Print the transcript, the oldest message first
    #[command(
        after_help = "Examples:\n  tombolo api sessions messages demo\n  tombolo api sessions messages demo --limit 50 --json"
    )]
    Messages {
        /// The session
        id: SessionId,
        /// Only what comes after this `nextCursor` of another page
        #[arg(long)]
        cursor: Option<String>,
        /// How many messages at most; everything that there is if left out
        #[arg(long, value_name = "MESSAGES")]
        limit: Option<u32>,
    },
    /// List the messages that wait for their turn
    #[command(after_help = "Examples:\n  tombolo api sessions inputs demo")]
    Inputs {
        /// The session
        id: SessionId,
    },
    /// Change what a message says while it waits for its turn
    #[command(after_help = "Examples:\n  tombolo api sessions edit demo inp_… 'No, the other test'")]
    Edit {
        /// The session
        id: SessionId,
        /// The message
        input: InputId,
        /// What it is to say; `-` or nothing for standard input
        message: Option<String>,
        /// Who changes it
        #[arg(long)]
        author: Option<Author>,
    },
    /// Take a message back while it waits for its turn
    #[command(after_help = "Examples:\n  tombolo api sessions withdraw demo inp_…")]
    Withdraw {
        /// The session
        id: SessionId,
        /// The message
        input: InputId,
    },
    /// Print what happened in a session, and with --follow what happens next
    #[command(after_help = "\
With --json the page is printed as it came; with --follow each event is a line, as its record came.
A cut connection is made anew and goes on after the last event. It ends when the session does.

Examples:
  tombolo api sessions events demo
  tombolo api sessions events demo --follow --offset 12
  tombolo api sessions events demo --follow --json | jq -c .event")]
    Events {
        /// The session
        id: SessionId,
        /// Only what came after the event of this number
        #[arg(long, value_name = "EVENT", default_value_t = 0)]
        offset: u64,
        /// How many events at most; everything that there is if left out
        #[arg(long, value_name = "EVENTS", conflicts_with = "follow")]
        limit: Option<u32>,
        /// Add what the agent said in its own words
        #[arg(long)]
        include_raw: bool,
        /// Wait for what happens next
        #[arg(long, short)]
        follow: bool,
    },
    /// Follow a session: the same as `events --follow`
    #[command(after_help = "Examples:\n  tombolo api sessions stream demo --offset 12")]
    Stream {
        /// The session
        id: SessionId,
        /// Only what came after the event of this number
        #[arg(long, value_name = "EVENT", default_value_t = 0)]
        offset: u64,
        /// Add what the agent said in its own words
        #[arg(long)]
        include_raw: bool,
    },
    /// Print what all events so far come to
    #[command(after_help = "Examples:\n  tombolo api sessions snapshot demo --json | jq .seq")]
    Snapshot {
        /// The session
        id: SessionId,
    },
    /// Interrupt the turn that runs, if one does
    #[command(after_help = "Examples:\n  tombolo api sessions cancel demo")]
    Cancel {
        /// The session
        id: SessionId,
    },
    /// Answer a question, or approve a plan
    #[command(after_help = "\
One --answer for each question, in their order; more than one choice is given with commas between.

Examples:
  tombolo api sessions answer demo wat_… --answer Approve
  tombolo api sessions answer demo wat_… --answer Postgres --answer 'tests,docs'
  tombolo api sessions answer demo wat_… --answers '[[\"a, b\"]]'")]
    Answer {
        /// The session
        id: SessionId,
        /// The question
        question: WaitId,
        /// What is chosen for the next question; may be repeated
        #[arg(long, value_name = "CHOICES", required_unless_present = "answers")]
        answer: Vec<String>,
        /// All answers as JSON: for each question an array of texts
        #[arg(long, value_name = "JSON", conflicts_with = "answer")]
        answers: Option<String>,
        /// Who answers
        #[arg(long)]
        author: Option<Author>,
    },
    /// Decline to answer a question
    #[command(after_help = "Examples:\n  tombolo api sessions reject demo wat_…")]
    Reject {
        /// The session
        id: SessionId,
        /// The question
        question: WaitId,
        /// Who declines
        #[arg(long)]
        author: Option<Author>,
    },
    /// Answer a permission: once, always or reject
    #[command(after_help = "Examples:\n  tombolo api sessions permit demo wat_… once")]
    Permit {
        /// The session
        id: SessionId,
        /// The permission
        permission: WaitId,
        /// once, always or reject
        #[arg(value_parser = permission_answer)]
        reply: PermissionAnswer,
        /// Who answers
        #[arg(long)]
        author: Option<Author>,
    },
}

mirrors! { Verb:
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

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        let sessions = client.sessions();
        match self {
            Verb::List => output.answer(&sessions.list().await?, view::list),
            Verb::Create(args) => {
                let (id, create) = args.read(output).await?;
                output.answer(&sessions.create(&id, &create).await?, |created| {
                    card([
                        ("healthy", yes_no(created.healthy)),
                        ("error", or_dash(created.error.as_ref().map(view::agent_error))),
                        ("agent session", or_dash(created.agent_session_id)),
                    ])
                })
            }
            Verb::Get { id } => output.answer(&sessions.get(&id).await?, |session| view::one(&session)),
            Verb::Delete { id } => {
                sessions.delete(&id).await?;
                output.done(&format!("session {id} is gone"))
            }
            Verb::Send(args) => {
                let (id, send, key) = args.read(output).await?;
                output.answer(&sessions.send(&id, &send, key.as_ref()).await?, |sent| view::sent(&sent))
            }
            Verb::Messages { id, cursor, limit } => {
                events::messages(client, &id, cursor, limit, output).await
            }
            Verb::Inputs { id } => output.answer(&sessions.inputs(&id).await?, view::inputs),
            Verb::Edit { id, input, message, author } => {
                let message = input::text(message, output).await?;
                sessions.edit(&id, input, &Edit { message, author }).await?;
                output.done(&format!("input {input} was changed"))
            }
            Verb::Withdraw { id, input } => {
                sessions.withdraw(&id, input).await?;
                output.done(&format!("input {input} was taken back"))
            }
            Verb::Events { id, offset, include_raw, follow: true, .. }
            | Verb::Stream { id, offset, include_raw } => {
                events::follow(client, &id, offset, include_raw, output).await
            }
            Verb::Events { id, offset, limit, include_raw, follow: false } => {
                events::so_far(client, &id, Pages { offset, limit, include_raw }, output).await
            }
            Verb::Snapshot { id } => {
                output.answer(&sessions.snapshot(&id).await?, |snapshot| view::snapshot(&snapshot))
            }
            Verb::Cancel { id } => {
                sessions.cancel(&id).await?;
                output.done("the agent was told to stop")
            }
            Verb::Answer { id, question, answer, answers, author } => {
                let answers = read_answers(answer, answers)?;
                sessions.answer(&id, question, &QuestionReply { answers, author }).await?;
                output.done(&format!("{question} is answered"))
            }
            Verb::Reject { id, question, author } => {
                sessions.reject(&id, question, author).await?;
                output.done(&format!("{question} is rejected"))
            }
            Verb::Permit { id, permission, reply, author } => {
                sessions.permit(&id, permission, &PermissionReply { reply, author }).await?;
                output.done(&format!("{permission} is answered"))
            }
        }
    }
}

/// For each question what was chosen: as words, or as JSON.
pub(super) fn read_answers(each: Vec<String>, all: Option<String>) -> Result<Vec<Vec<String>>, Failure> {
    let Some(json) = all else {
        let chosen = |answer: String| answer.split(',').map(|choice| choice.trim().to_owned()).collect();
        return Ok(each.into_iter().map(chosen).collect());
    };
    serde_json::from_str(&json).map_err(|error| Failure::Usage(format!("--answers: {error}")))
}

fn permission_answer(text: &str) -> Result<PermissionAnswer, &'static str> {
    serde_json::from_value(text.into()).map_err(|_| "it must be once, always or reject")
}
