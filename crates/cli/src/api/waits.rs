//! `tombolo api waits`.

use clap::Subcommand;
use client::Client;
use jiff::{SpanRound, Timestamp, Unit};
use protocol::wait::{Ask, Wait, WaitDefault, WaitList};

use super::{
    operations::{Operation, mirrors},
    sessions,
};
use crate::{
    exit::Outcome,
    output::{Output, table, time},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List what waits for a person, in all sessions, the oldest first
    #[command(
        after_help = "Examples:\n  tombolo api waits list\n  tombolo api waits list --json | jq '.items[].ask'"
    )]
    List,
}

mirrors! { Verb:
    List = "list" GET "/v1/waits";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        match self {
            Verb::List => output.answer(&client.waits().list().await?, list),
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

fn age(wait: &Wait, now: Timestamp) -> String {
    let span = now
        .since(wait.opened_at)
        .and_then(|span| span.round(SpanRound::new().largest(Unit::Hour).smallest(Unit::Second)));
    span.map_or_else(|_| "-".into(), |span| format!("{span:#}"))
}

fn kind(ask: &Ask) -> &'static str {
    match ask {
        Ask::Permission(_) => "permission",
        Ask::Question(question) if question.plan.is_some() => "plan",
        Ask::Question(_) => "question",
    }
}

fn choices(ask: &Ask) -> String {
    match ask {
        Ask::Permission(_) => "once, always, reject".into(),
        Ask::Question(question) => {
            let labels = |item: &protocol::wait::QuestionItem| {
                let labels: Vec<_> = item.options.iter().map(|option| option.label.clone()).collect();
                labels.join(", ")
            };
            question.questions.iter().map(labels).collect::<Vec<_>>().join(" / ")
        }
    }
}

fn default(default: WaitDefault) -> &'static str {
    match default {
        WaitDefault::Reject => "reject",
    }
}
