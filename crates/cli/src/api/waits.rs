//! `tombolo api waits`.

use clap::Subcommand;
use client::Client;
use jiff::Timestamp;
use protocol::{
    Author, WaitId,
    wait::{Ask, Permission, PermissionAnswer, QuestionItem, WaitAnswer, WaitDefault, WaitList, WaitReply},
};

use super::{
    operations::{Operation, mirrors},
    sessions,
};
use crate::{
    exit::Outcome,
    output::{Output, table, time},
    waits::{self, age, kind},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List what waits for a person, in all sessions, the oldest first
    #[command(
        after_help = "Examples:\n  tombolo api waits list\n  tombolo api waits list --json | jq '.items[].ask'"
    )]
    List,
    /// Follow what waits for a person: what is open, then what is asked and settled
    #[command(
        after_help = "Examples:\n  tombolo api waits follow\n  tombolo api waits follow --json | jq .type"
    )]
    Follow,
    /// Answer whatever is asked: a permission, a question, a plan
    #[command(after_help = "\
Examples:
  tombolo api waits answer wat_… once
  tombolo api waits answer wat_… --answer Approve
  tombolo api waits answer wat_… reject")]
    Answer {
        /// The question or permission
        id: WaitId,
        /// To a permission: once or always; to anything: reject
        #[arg(value_parser = ["once", "always", "reject"], required_unless_present_any = ["answer", "answers"])]
        reply: Option<String>,
        /// What is chosen for the next question; may be repeated
        #[arg(long, value_name = "CHOICES", conflicts_with = "reply")]
        answer: Vec<String>,
        /// All answers as JSON: for each question an array of texts
        #[arg(long, value_name = "JSON", conflicts_with_all = ["answer", "reply"])]
        answers: Option<String>,
        /// Who answers
        #[arg(long)]
        author: Option<Author>,
    },
}

mirrors! { Verb:
    List = "list" GET "/v1/waits";
    Follow = "follow" GET "/v1/waits/events";
    Answer = "answer" POST "/v1/waits/{wait_id}";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        match self {
            Verb::List => output.answer(&client.waits().list().await?, list),
            Verb::Follow => waits::follow(client.waits().events().await?, output).await,
            Verb::Answer { id, reply, answer, answers, author } => {
                let answer = match reply.as_deref() {
                    Some("once") => WaitAnswer::Permission(PermissionAnswer::Once),
                    Some("always") => WaitAnswer::Permission(PermissionAnswer::Always),
                    Some(_) => WaitAnswer::Reject,
                    None => WaitAnswer::Question(sessions::read_answers(answer, answers)?),
                };
                let settled = client.waits().answer(id, &WaitReply { answer, author }).await?;
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
            kind(&wait.ask).into(),
            sessions::ask(&wait.ask),
            choices(&wait.ask),
            time(wait.expires_at),
            default(wait.default).into(),
        ]
    });
    table(["ID", "SESSION", "AGE", "KIND", "ASKED", "CHOICES", "EXPIRES", "THEN"], rows)
}

/// What can be answered.
pub(crate) fn choices(ask: &Ask) -> String {
    match ask {
        Ask::Permission(permission) => match always(permission) {
            Some(always) => format!("once, always ({always}), reject"),
            None => "once, always, reject".into(),
        },
        Ask::Question(question) => {
            let labels = |item: &QuestionItem| {
                let labels: Vec<_> = item.options.iter().map(|option| option.label.clone()).collect();
                labels.join(", ")
            };
            question.questions.iter().map(labels).collect::<Vec<_>>().join(" / ")
        }
    }
}

/// What `always` would allow, where that is said.
pub(crate) fn always(permission: &Permission) -> Option<String> {
    (!permission.always.is_empty()).then(|| permission.always.join("; "))
}

fn default(default: WaitDefault) -> &'static str {
    match default {
        WaitDefault::Reject => "reject",
    }
}
