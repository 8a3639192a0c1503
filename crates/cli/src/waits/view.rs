//! Waits as text for people.

use client::JsonEventStream;
use jiff::{SpanRound, Timestamp, Unit};
use protocol::{
    RuntimeId,
    inbox::{InboxEvent, InboxWait},
    wait::{PermissionOutcome, Wait, WaitEvent, WaitOutcome, WaitRequest},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{source::ListedWait, wait_text::WaitText};
use crate::{
    answer_word::{ALLOW_ALWAYS, ALLOW_ONCE, DENY},
    api::choices,
    exit::CommandResult,
    output::{self, CommandOutput, or_dash, plain},
};

/// The open waits, one row each.
pub(super) fn table(open: impl Iterator<Item = ListedWait>) -> String {
    let now = Timestamp::now();
    let rows = open.map(|ListedWait { runtime, wait }| {
        let question = listed_request(runtime.as_ref(), &wait);
        [
            wait.id.to_string(),
            or_dash(runtime),
            wait.session_id.to_string(),
            age(&wait, now),
            kind(&wait.request).into(),
            question,
            choices(&wait.request),
        ]
    });
    output::table(["ID", "RUNTIME", "SESSION", "AGE", "KIND", "QUESTION", "CHOICES"], rows)
}

/// How long a wait has been open.
pub(crate) fn age(wait: &Wait, now: Timestamp) -> String {
    let span = now
        .since(wait.opened_at)
        .and_then(|span| span.round(SpanRound::new().largest(Unit::Hour).smallest(Unit::Second)));
    span.map_or_else(|_| "-".into(), |span| format!("{span:#}"))
}

/// The request on one line: all of it if it is short, or else its beginning and how to read the rest.
pub(crate) fn listed_request(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    WaitText::new(runtime, wait).listed(wait)
}

/// The kind of a wait, for the tables.
pub(crate) fn kind(request: &WaitRequest) -> &'static str {
    match request {
        WaitRequest::Permission(_) => "permission",
        WaitRequest::Question(question) if question.plan.is_some() => "plan",
        WaitRequest::Question(_) => "question",
    }
}

/// An event of a stream of waits.
pub(crate) trait WaitStreamEvent: DeserializeOwned {
    /// The event as lines for people.
    fn lines(&self) -> Vec<String>;
}

/// Prints events until the stream ends.
pub(crate) async fn follow<T: WaitStreamEvent>(
    mut events: JsonEventStream<T>,
    output: CommandOutput,
) -> CommandResult {
    while let Some((event, json)) = events.next().await? {
        if output.json {
            output.line(&json)?;
        } else {
            event.lines().iter().try_for_each(|line| output.line(&plain(line)))?;
        }
    }
    Ok(())
}

impl WaitStreamEvent for WaitEvent {
    fn lines(&self) -> Vec<String> {
        match self {
            WaitEvent::Snapshot { waits } => waits.iter().map(|wait| opened(None, wait)).collect(),
            WaitEvent::Opened { wait } => vec![opened(None, wait)],
            WaitEvent::Settled { wait } => vec![settled(None, wait)],
            WaitEvent::Unknown => Vec::new(),
        }
    }
}

impl WaitStreamEvent for InboxEvent {
    fn lines(&self) -> Vec<String> {
        let opened_lines = |waits: &[InboxWait]| -> Vec<String> {
            waits.iter().map(|item| opened(Some(&item.runtime_id), &item.wait)).collect()
        };
        match self {
            InboxEvent::Snapshot { waits, unavailable_runtimes: unavailable } => {
                [unavailable.iter().map(unreachable).collect(), opened_lines(waits)].concat()
            }
            InboxEvent::Opened { wait } => vec![opened(Some(&wait.runtime_id), &wait.wait)],
            InboxEvent::Settled { wait } => vec![settled(Some(&wait.runtime_id), &wait.wait)],
            InboxEvent::Unavailable { runtime_id } => vec![unreachable(runtime_id)],
            InboxEvent::Available { runtime_id, waits } => {
                [vec![format!("online   {runtime_id}")], opened_lines(waits)].concat()
            }
            InboxEvent::Unknown => Vec::new(),
        }
    }
}

/// All of a wait: the request, and how it was settled.
pub(crate) fn full(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    let text = WaitText::new(runtime, wait).full();
    match wait.settlement {
        None => format!("{text}open"),
        Some(_) => format!("{text}{}", settlement(wait)),
    }
}

fn opened(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    format!(
        "open     {}  {}  {}",
        location(runtime, wait),
        kind(&wait.request),
        listed_request(runtime, wait)
    )
}

/// One line: the answer to a wait and its author.
pub(crate) fn settled(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    format!("settled  {}  {}", location(runtime, wait), settlement(wait))
}

/// How a wait was settled: the author and the answer.
pub(super) fn settlement(wait: &Wait) -> String {
    let (author, outcome) = match &wait.settlement {
        None => (None, "-".into()),
        Some(settled) => (settled.author.as_ref(), describe_outcome(&settled.outcome)),
    };
    let author = author.map_or_else(|| "nobody".into(), ToString::to_string);
    format!("by {author}: {outcome}")
}

fn unreachable(runtime: &RuntimeId) -> String {
    format!("offline  {runtime}")
}

fn location(runtime: Option<&RuntimeId>, wait: &Wait) -> String {
    let runtime = runtime.map(|runtime| format!("{runtime}/")).unwrap_or_default();
    format!("{}  {runtime}{}", wait.id, wait.session_id)
}

/// An outcome in words, or the chosen answers as JSON.
fn describe_outcome(outcome: &protocol::wait::WaitOutcome) -> String {
    match outcome {
        WaitOutcome::Permission(PermissionOutcome::Once) => return ALLOW_ONCE.into(),
        WaitOutcome::Permission(PermissionOutcome::Always) => return ALLOW_ALWAYS.into(),
        WaitOutcome::Permission(PermissionOutcome::Reject) => return DENY.into(),
        WaitOutcome::Permission(PermissionOutcome::Expired | PermissionOutcome::Withdrawn)
        | WaitOutcome::Question(_) => {}
    }
    let json = serde_json::to_value(outcome).unwrap_or_default();
    match json.as_object().and_then(|kinds| kinds.values().next()) {
        Some(Value::String(word)) => word.clone(),
        Some(other) => other.to_string(),
        None => json.to_string(),
    }
}
