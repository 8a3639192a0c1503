//! What somebody sees who may not see everything.

use std::{num::NonZeroU64, sync::Arc};

use hub::{
    BACKLOG, Feeds, SigningKey, Watch,
    policy::{
        AllowEverything, CombinedPolicy, CurrentPolicy, Decision, HiddenContent, Policy, PolicySubject,
        RedactionPolicy, Redactor, RequestedAction, RolePolicy, StreamRedactor, Visibility,
    },
};
use journal::Retention;
use proptest::prelude::*;
use protocol::{
    Event, RuntimeId,
    hub::Role,
    observation::{DiagnosticKind, EventEnvelope, ObservationFrame, StreamCloseCode},
    sessions::SessionSnapshot,
};
use serde_json::json;

use crate::{
    bus::{Bus, Host, worker},
    viewer::{Notebook, Viewer, runtime},
};

/// A path that is hidden.
const PATH: &str = "/home/joe/.ssh";

/// Nobody may watch the worker.
struct Closed;

impl Policy for Closed {
    fn may(&self, _: &PolicySubject, what: &RequestedAction<'_>) -> Decision {
        match what {
            RequestedAction::Watch { worker: of, .. } if **of == worker() => {
                Decision::Denied("it is not for you".into())
            }
            _ => Decision::Allowed,
        }
    }
}

/// What the worker is doing in detail is not shown.
#[derive(Clone)]
struct NoDetail(Arc<NoDetailLens>);
#[derive(Clone, Copy)]
struct NoDetailLens;

impl Policy for NoDetail {
    fn visibility(&self, _: &PolicySubject, _: &RuntimeId) -> Visibility {
        Visibility::Redacted(self.0.clone())
    }
}

impl Redactor for NoDetailLens {
    fn redact_stream(&self) -> Box<dyn StreamRedactor> {
        Box::new(*self)
    }
}

impl StreamRedactor for NoDetailLens {
    fn event(&mut self, event: &Event) -> Option<Event> {
        let Event::Status(status) = event else { return None };
        Some(Event::Status(protocol::event::SessionStatus { detail: None, ..status.clone() }))
    }

    fn snapshot(&self, mut snapshot: SessionSnapshot) -> SessionSnapshot {
        snapshot.session.title = None;
        snapshot
    }
}

fn who(role: Role) -> PolicySubject {
    PolicySubject { user: "joe".parse().unwrap(), workspace: "lab".parse().unwrap(), role: Some(role) }
}

struct Stage {
    _directory: tempfile::TempDir,
    feeds: Feeds,
    bus: Arc<Bus>,
    policies: CurrentPolicy,
}

impl Stage {
    fn new() -> Self {
        Self::keeping(BACKLOG)
    }

    fn keeping(backlog: Retention) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let feeds = Feeds::new(SigningKey::open(&directory.path().join("key")).unwrap(), backlog);
        Self { _directory: directory, feeds, bus: Bus::new(), policies: CurrentPolicy::default() }
    }

    fn watch(&self, role: Role, cursor: Option<&str>) -> Viewer {
        let host = Arc::new(Host(Arc::clone(&self.bus)));
        let watch: Watch =
            self.feeds.watch((&runtime(), host), &worker(), cursor.map(str::to_owned)).unwrap();
        Viewer::of(watch.seen_by(who(role), &self.policies))
    }
}

fn is_bare(envelope: &EventEnvelope) -> bool {
    match &envelope.payload {
        Event::Status(status) => status.detail.is_none(),
        Event::Snapshot(snapshot) => snapshot.session.title.is_none(),
        _ => false,
    }
}

/// observation-70: a policy that denies a worker ends the stream of who watches it, and keeps others out.
#[tokio::test(start_paused = true)]
async fn who_may_not_watch_is_told_so() {
    let stage = Stage::new();
    let mut viewer = stage.watch(Role::Owner, None);
    viewer.envelope().await;
    stage.policies.set(Arc::new(CombinedPolicy::new(Arc::new(RolePolicy), Arc::new(Closed))));
    stage.bus.publish(1);
    for mut viewer in [viewer, stage.watch(Role::Owner, None)] {
        let end = viewer.next().await.unwrap_err();
        assert_eq!(end.diagnostic.unwrap().known().unwrap().1, DiagnosticKind::Denied);
        assert_eq!(end.code, StreamCloseCode::POLICY);
    }
}

/// observation-70: another policy shows on a stream that is open with the next event; the events keep their names, places
/// and order, whoever sees them.
#[tokio::test(start_paused = true)]
async fn another_policy_holds_from_the_next_event_on() {
    let stage = Stage::new();
    let mut viewer = stage.watch(Role::Owner, None);
    let mut everything = Viewer::new(&stage.feeds, &stage.bus, None);
    assert!(!is_bare(&viewer.envelope().await));
    everything.envelope().await;
    let no_detail = NoDetail(Arc::new(NoDetailLens));
    let mut seen = Vec::new();
    for round in 0..6 {
        let hides = round % 2 == 1;
        stage.policies.set(if hides { Arc::new(no_detail.clone()) } else { Arc::new(AllowEverything) });
        stage.bus.publish(2);
        while seen.len() < 2 * (round + 1) {
            let envelope = viewer.envelope().await;
            assert_eq!(is_bare(&envelope), hides, "{round}");
            // What it has come to is told once more, as it is seen now.
            if !matches!(envelope.payload, Event::Snapshot(_)) {
                seen.push(envelope);
            }
        }
    }
    for envelope in &seen {
        let whole = everything.envelope().await;
        assert_eq!((&whole.cursor, &whole.event_id), (&envelope.cursor, &envelope.event_id));
        assert_eq!((whole.time, whole.replay), (envelope.time, envelope.replay));
    }
    // The same holds for what is told again.
    stage.policies.set(Arc::new(no_detail));
    let mut again = stage.watch(Role::Owner, Some(&seen[0].cursor));
    assert!(is_bare(&again.envelope().await));
    for envelope in &seen[1..] {
        let replayed = again.envelope().await;
        assert!(replayed.replay && is_bare(&replayed));
        assert_eq!(replayed.cursor, envelope.cursor);
    }
}

/// observation-70: what is decided while somebody waits holds for what they waited for, even if that has happened before.
#[tokio::test(start_paused = true)]
async fn what_is_shown_is_decided_when_it_is_told() {
    let stage = Stage::new();
    let (mut viewer, mut everything) = (stage.watch(Role::Owner, None), stage.watch(Role::Owner, None));
    for viewer in [&mut viewer, &mut everything] {
        viewer.envelope().await;
    }
    let mut next = std::pin::pin!(viewer.envelope());
    assert!(futures_util::poll!(&mut next).is_pending());
    stage.bus.publish(1);
    everything.envelope().await;
    stage.policies.set(Arc::new(NoDetail(Arc::new(NoDetailLens))));
    assert!(is_bare(&next.await));
}

/// observation-67, observation-70: those who may see everything get what others get who are not asked, whatever is hidden from whom.
#[tokio::test(start_paused = true)]
async fn who_sees_everything_shares_the_frames_of_all() {
    let stage = Stage::new();
    let hidden = HiddenContent { thinking: true, ..HiddenContent::default() };
    stage.policies.set(Arc::new(RedactionPolicy::default().with(Role::Viewer, hidden)));
    let mut viewers = [stage.watch(Role::Owner, None), Viewer::new(&stage.feeds, &stage.bus, None)];
    for viewer in &mut viewers {
        viewer.envelope().await;
    }
    stage.bus.publish(1);
    let mut frames = Vec::new();
    for viewer in &mut viewers {
        frames.push(viewer.bytes().await);
    }
    // Not only the same, but in the same place: nobody has read it or made another.
    assert_eq!(frames[0].as_ptr(), frames[1].as_ptr());
}

fn said(kind: u8, text: &str, last: bool) -> Event {
    let message = |part| json!({ "message": { "id": "m", "role": "assistant", "parts": [part] } });
    let delta = |part: &str, kind: &str| json!({ "messageDelta": { "messageId": "m", "partId": part, "kind": kind, "text": text } });
    let event = match kind {
        _ if last => json!({ "status": { "state": "idle", "detail": "last" } }),
        0 => message(json!({ "id": "t", "type": "text", "text": text })),
        1 => message(json!({ "id": "r", "type": "reasoning", "text": format!("HIDDEN {text}") })),
        2 => message(
            json!({ "id": "o", "type": "toolResult", "callId": "c", "output": format!("HIDDEN {text}") }),
        ),
        3 => delta("t", "text"),
        4 => delta("r", "reasoning"),
        5 => delta("o", "toolOutput"),
        _ => json!({ "status": { "state": "running", "detail": text } }),
    };
    serde_json::from_value(event).unwrap()
}

/// observation-68: what was said before anybody looked, and is no longer kept, tells what the next piece belongs to.
#[tokio::test(start_paused = true)]
async fn who_comes_in_the_middle_of_a_path_does_not_see_its_end() {
    let stage = Stage::keeping(Retention { events: NonZeroU64::new(2).unwrap(), ..BACKLOG });
    let paths = vec![format!("{PATH}/**")].try_into().unwrap();
    let hidden = HiddenContent { paths, ..HiddenContent::default() };
    stage.policies.set(Arc::new(RedactionPolicy::default().with(Role::Viewer, hidden)));
    let mut everything = stage.watch(Role::Owner, None);
    everything.envelope().await;
    for event in [said(0, "see", false), said(3, " /home/joe", false), said(6, "", false), said(6, "", false)]
    {
        stage.bus.say(event);
        everything.envelope().await;
    }
    let mut viewer = stage.watch(Role::Viewer, None);
    viewer.envelope().await;
    stage.bus.say(said(3, "/.ssh/id_rsa now", false));
    let Event::MessageDelta(delta) = viewer.envelope().await.payload else { panic!("it is a piece") };
    assert_eq!(delta.text, "*** now");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// observation-68, observation-70: whenever they come and whatever is said in however many pieces: who may not see everything
    /// gets the same events at the same places in the same order, and nothing in them that is hidden.
    #[test]
    fn who_is_restricted_misses_nothing_else(
        steps in proptest::collection::vec((0..7u8, "(/home/|joe|/\\.ssh/|SEC|RET| |x){0,4}", 0..8u8), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new();
            let paths = vec!["/home/*/.ssh/**".to_owned()].try_into().unwrap();
            let hidden = HiddenContent { thinking: true, tool_output: true, paths, directories: None };
            stage.policies.set(Arc::new(RedactionPolicy::default().with(Role::Viewer, hidden)));
            let mut everything = stage.watch(Role::Owner, None);
            let first = everything.envelope().await.cursor;
            let mut viewers = Vec::new();
            for (kind, text, come) in &steps {
                if *come == 0 {
                    // From now on, or from the first event on.
                    for cursor in [Some(first.as_str()), None] {
                        let (mut viewer, mut notebook) = (stage.watch(Role::Viewer, cursor), Notebook::default());
                        notebook.write(&viewer.next().await.unwrap());
                        viewers.push((viewer, notebook));
                    }
                }
                stage.bus.say(said(*kind, text, false));
            }
            stage.bus.say(said(0, "", true));
            let all = collect(&mut everything, &mut Notebook::default(), true).await;
            let expected: Vec<_> = all.into_iter().map(|(cursor, _)| cursor).collect();
            for (viewer, notebook) in &mut viewers {
                let seen = collect(viewer, notebook, false).await;
                let cursors: Vec<_> = seen.iter().map(|(cursor, _)| cursor.clone()).collect();
                assert!(expected.ends_with(&cursors), "{cursors:?}");
                for (_, payload) in &seen {
                    let bytes = serde_json::to_string(payload).unwrap();
                    assert!(!bytes.contains("HIDDEN ") && !bytes.contains(PATH), "{bytes}");
                }
            }
        });
    }
}

/// The events up to the last one, without snapshots. What they come to on the way never has the path.
async fn collect(viewer: &mut Viewer, notebook: &mut Notebook, may_see: bool) -> Vec<(String, Event)> {
    let mut seen = Vec::new();
    loop {
        let frame = viewer.next().await.unwrap();
        notebook.write(&frame);
        let known = notebook.projection.as_ref().map(|known| known.snapshot().messages);
        let known = serde_json::to_string(&known).unwrap();
        assert!(may_see || !known.contains(PATH), "{known}");
        let ObservationFrame::Event { envelope } = frame else { continue };
        let EventEnvelope { cursor, payload, .. } = *envelope;
        if matches!(payload, Event::Snapshot(_)) {
            continue;
        }
        let is_last = matches!(&payload, Event::Status(status) if status.detail.as_deref() == Some("last"));
        seen.push((cursor, payload));
        if is_last {
            return seen;
        }
    }
}
