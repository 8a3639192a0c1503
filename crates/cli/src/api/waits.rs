//! `tombolo api waits`.

use clap::Subcommand;
use client::Client;
use jiff::Timestamp;
use protocol::{
    Author, WaitId,
    wait::{
        AnswerWaitRequest, PermissionAnswer, PermissionRequest, QuestionItem, WaitAnswer, WaitDefault,
        WaitList, WaitRequest,
    },
};

use super::{operations::mirrors, sessions};
use crate::{
    answer_word::{self, ALLOW_ALWAYS, ALLOW_ONCE, DENY},
    exit::{CommandError, CommandResult},
    output::{CommandOutput, table, time},
    server_args::RequestCommand,
    waits::{self, age, kind, listed_request},
};

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonWaitsCommand {
    /// List the open permission requests, questions and plans of all sessions, oldest first
    #[command(
        after_help = "Examples:\n  tombolo api waits list\n  tombolo api waits list --json | jq '.items[].request'"
    )]
    List,
    /// Show one wait: an open one, or how one was settled and by whom
    #[command(
        after_help = "Examples:\n  tombolo api waits get wat_…\n  tombolo api waits get wat_… --json | jq .settlement"
    )]
    Get {
        /// The id of the wait
        id: WaitId,
    },
    /// Print the open waits, then each wait that opens or is settled
    #[command(
        after_help = "Examples:\n  tombolo api waits follow\n  tombolo api waits follow --json | jq .type"
    )]
    Follow,
    /// Answer a permission request, a question or a plan
    #[command(after_help = "\
Examples:
  tombolo api waits answer wat_… allow once
  tombolo api waits answer wat_… --answer Approve
  tombolo api waits answer wat_… deny")]
    Answer {
        /// The id of the wait
        id: WaitId,
        /// The answer: allow once or allow always (permission requests), or deny (anything)
        #[arg(num_args = 1..=2, required_unless_present_any = ["answer", "answers"])]
        reply: Vec<String>,
        /// The answer to the next question; may be repeated
        #[arg(long, value_name = "CHOICES", conflicts_with = "reply")]
        answer: Vec<String>,
        /// All answers as JSON: an array of strings per question
        #[arg(long, value_name = "JSON", conflicts_with_all = ["answer", "reply"])]
        answers: Option<String>,
        /// Record this name as the author of the answer
        #[arg(long)]
        author: Option<Author>,
    },
}

mirrors! { DaemonWaitsCommand:
    List = "list" GET "/v1/waits";
    Get = "get" GET "/v1/waits/{wait_id}";
    Follow = "follow" GET "/v1/waits/events";
    Answer = "answer" POST "/v1/waits/{wait_id}";
}

impl RequestCommand for DaemonWaitsCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        match self {
            DaemonWaitsCommand::List => output.answer(&client.waits().list().await?, list),
            DaemonWaitsCommand::Get { id } => {
                output.answer(&client.waits().get(id).await?, |wait| waits::full(None, &wait))
            }
            DaemonWaitsCommand::Follow => waits::follow(client.waits().events().await?, output).await,
            DaemonWaitsCommand::Answer { id, reply, answer, answers, author } => {
                let answer = if reply.is_empty() {
                    WaitAnswer::Question(sessions::parse_answers(answer, answers)?)
                } else {
                    match answer_word::parse_arguments(&reply).map_err(CommandError::Usage)? {
                        PermissionAnswer::Reject => WaitAnswer::Reject,
                        allowed => WaitAnswer::Permission(allowed),
                    }
                };
                let settled = client.waits().answer(id, &AnswerWaitRequest { answer, author }).await?;
                output.answer(&settled, |wait| waits::settled(None, &wait))
            }
        }
    }
}

fn list(list: WaitList) -> String {
    let now = Timestamp::now();
    let rows = list.items.into_iter().map(|wait| {
        [
            wait.id.to_string(),
            wait.session_id.to_string(),
            age(&wait, now),
            kind(&wait.request).into(),
            listed_request(None, &wait),
            choices(&wait.request),
            time(wait.expires_at),
            default(wait.default_answer).into(),
        ]
    });
    table(["ID", "SESSION", "AGE", "KIND", "QUESTION", "CHOICES", "EXPIRES", "ON EXPIRY"], rows)
}

/// The answers that a wait accepts.
pub(crate) fn choices(request: &WaitRequest) -> String {
    match request {
        WaitRequest::Permission(permission) => match always(permission) {
            Some(always) => format!("{ALLOW_ONCE}, {ALLOW_ALWAYS} ({always}), {DENY}"),
            None => format!("{ALLOW_ONCE}, {ALLOW_ALWAYS}, {DENY}"),
        },
        WaitRequest::Question(question) => {
            let labels = |item: &QuestionItem| {
                let labels: Vec<_> = item.options.iter().map(|option| option.label.clone()).collect();
                labels.join(", ")
            };
            question.questions.iter().map(labels).collect::<Vec<_>>().join(" / ")
        }
    }
}

/// The rules that answering `always` would add, if the agent names them.
fn always(permission: &PermissionRequest) -> Option<String> {
    (!permission.always_allows.is_empty()).then(|| permission.always_allows.join("; "))
}

fn default(default: WaitDefault) -> &'static str {
    match default {
        WaitDefault::Reject => DENY,
    }
}
