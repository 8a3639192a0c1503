//! Waits as people read them.

use client::Told;
use jiff::{SpanRound, Timestamp, Unit};
use protocol::{
    RuntimeId,
    inbox::{InboxEvent, InboxWait},
    wait::{Ask, Wait, WaitEvent},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::place::Found;
use crate::{
    api::{always, asked, choices},
    exit::Outcome,
    output::{self, Output, or_dash, plain},
};

/// What is open, a row each.
pub(super) fn table(found: impl Iterator<Item = Found>) -> String {
    let now = Timestamp::now();
    let rows = found.map(|(runtime, wait)| {
        [
            wait.id.to_string(),
            or_dash(runtime),
            wait.session_id.to_string(),
            age(&wait, now),
            kind(&wait.ask).into(),
            asked(&wait.ask),
            choices(&wait.ask),
        ]
    });
    output::table(["ID", "RUNTIME", "SESSION", "AGE", "KIND", "ASKED", "CHOICES"], rows)
}

/// How long it has waited.
pub(crate) fn age(wait: &Wait, now: Timestamp) -> String {
    let span = now
        .since(wait.opened_at)
        .and_then(|span| span.round(SpanRound::new().largest(Unit::Hour).smallest(Unit::Second)));
    span.map_or_else(|_| "-".into(), |span| format!("{span:#}"))
}

/// What kind of answer is wanted.
pub(crate) fn kind(ask: &Ask) -> &'static str {
    match ask {
        Ask::Permission(_) => "permission",
        Ask::Question(question) if question.plan.is_some() => "plan",
        Ask::Question(_) => "question",
    }
}

/// Something that is told of waits.
pub(crate) trait News: DeserializeOwned {
    /// The same as lines for people.
    fn lines(&self) -> Vec<String>;
}

/// Prints what is told until that ends.
pub(crate) async fn follow<T: News>(mut told: Told<T>, output: Output) -> Outcome {
    while let Some((news, json)) = told.next().await? {
        match output.json {
            true => output.line(&json)?,
            false => news.lines().iter().try_for_each(|line| output.line(&plain(line)))?,
        }
    }
    Ok(())
}

impl News for WaitEvent {
    fn lines(&self) -> Vec<String> {
        match self {
            WaitEvent::Snapshot { waits } => waits.iter().map(|wait| opened(None, wait)).collect(),
            WaitEvent::Opened { wait } => vec![opened(None, wait)],
            WaitEvent::Settled { wait } => vec![settled(None, wait)],
            WaitEvent::Unknown => Vec::new(),
        }
    }
}

impl News for InboxEvent {
    fn lines(&self) -> Vec<String> {
        let all = |waits: &[InboxWait]| -> Vec<String> {
            waits.iter().map(|item| opened(Some(&item.runtime_id), &item.wait)).collect()
        };
        match self {
            InboxEvent::Snapshot { waits, unavailable } => {
                [unavailable.iter().map(away).collect(), all(waits)].concat()
            }
            InboxEvent::Opened { wait } => vec![opened(Some(&wait.runtime_id), &wait.wait)],
            InboxEvent::Settled { wait } => vec![settled(Some(&wait.runtime_id), &wait.wait)],
            InboxEvent::Unavailable { runtime_id } => vec![away(runtime_id)],
            InboxEvent::Available { runtime_id, waits } => {
                [vec![format!("here     {runtime_id}")], all(waits)].concat()
            }
            InboxEvent::Unknown => Vec::new(),
        }
    }
}

fn opened(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    let always = match &wait.ask {
        Ask::Permission(permission) => always(permission).map(|it| format!("  (always: {it})")),
        Ask::Question(_) => None,
    };
    let always = always.unwrap_or_default();
    format!("open     {}  {}  {}{always}", place(runtime, wait), kind(&wait.ask), asked(&wait.ask))
}

/// How a wait was settled, and by whom.
pub(crate) fn settled(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    let (by, how) = match &wait.settled {
        None => (None, "-".into()),
        Some(settled) => (settled.author.as_ref(), how(&settled.outcome)),
    };
    let by = by.map_or_else(|| "nobody".into(), ToString::to_string);
    format!("settled  {}  by {by}: {how}", place(runtime, wait))
}

fn away(runtime: &RuntimeId) -> String {
    format!("away     {runtime}")
}

fn place(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    let runtime = runtime.map(|runtime| format!("{runtime}/")).unwrap_or_default();
    format!("{}  {runtime}{}", wait.id, wait.session_id)
}

/// What an outcome says, in a word or as it was chosen.
fn how(outcome: &protocol::wait::Outcome) -> String {
    let json = serde_json::to_value(outcome).unwrap_or_default();
    match json.as_object().and_then(|kinds| kinds.values().next()) {
        Some(Value::String(word)) => word.clone(),
        Some(other) => other.to_string(),
        None => json.to_string(),
    }
}
