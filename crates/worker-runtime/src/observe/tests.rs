use jiff::Timestamp;
use journal::{
    FrameBuffer as Batch, Retention, Seq, StartPosition,
    durable::{DurableJournal, JournalStore},
};
use protocol::{Event, EventId, InputId, TurnId, WaitId};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::frame::{RecordBody, encode};

async fn journal(home: &TempDir) -> (JournalStore, DurableJournal) {
    let store = JournalStore::open(home.path().join("journal.db")).unwrap();
    let journal = store.journal("s", Retention::UNLIMITED).await.unwrap();
    (store, journal)
}

/// One event of each variant; one that has no row here does not compile.
macro_rules! one_of_each {
    ($($variant:ident $sample:tt)*) => {{
        let _ = |event: &Event| match event { $(Event::$variant(_) => {})* };
        [$(Event::$variant(serde_json::from_value(json!($sample)).unwrap())),*]
    }};
}

fn every_variant() -> impl IntoIterator<Item = Event> {
    let (turn, input, wait) = (TurnId::mint(), InputId::mint(), WaitId::mint());
    let (at, usage) = (Timestamp::UNIX_EPOCH, json!({ "inputTokens": 1, "costUsd": 0.25 }));
    one_of_each! {
        Started { "model": "m", "mode": null, "version": "1", "resumed": true }
        Message { "id": "m", "role": "assistant", "turnId": turn, "parts": [
            { "id": "0", "type": "text", "text": "\",\"event\":{}\u{2028}\n" },
            { "id": "1", "type": "unparsed", "raw": { "event": [1, null] }, "error": "what?" },
            { "id": "2", "type": "hologram", "depth": 3 },
        ] }
        MessageDelta { "messageId": "m", "partId": "0", "kind": "text", "text": "more" }
        TurnStarted { "turnId": turn, "inputId": input }
        TurnEnded { "turnId": turn, "reason": "completed", "usage": usage }
        Input { "inputId": input, "state": "refused", "author": "me", "reason": "full" }
        Error { "processExited": { "code": 1, "signal": null, "stderr": "oh" } }
        QuestionAsked { "id": wait, "turnId": turn, "callId": null, "plan": null, "questions": [
            { "question": "Which?", "header": null, "options": [], "allowsMultiple": false, "allowsCustom": true },
        ] }
        QuestionResolved { "id": wait, "outcome": { "answered": [["this", "that"]] }, "author": "me" }
        PermissionAsked { "id": wait, "turnId": turn, "callId": "c", "tool": "Bash", "kind": "execute",
            "title": "ls", "reason": null, "input": { "command": "ls" }, "alwaysAllows": ["ls *"] }
        PermissionResolved { "id": wait, "outcome": "expired", "author": null }
        Status { "state": "idle", "detail": "waits" }
        Plan { "steps": [{ "text": "look", "state": "inProgress" }] }
        CommandsUpdated { "commands": [{ "name": "review", "description": null, "hint": "what" }] }
        Ended { "reason": "deleted" }
        Snapshot { "seq": 3, "messages": [], "hasEarlier": true, "waits": [], "inputs": [], "commands": [],
            "plan": { "steps": [] }, "session": {
                "id": "s", "agent": "mock", "agentSessionId": null, "title": null, "agentMode": "build",
                "permissionMode": "default", "model": null, "variant": null, "directory": "/",
                "state": "running", "turnId": turn, "queuedInputs": 0, "openWaits": 0, "usage": usage, "error": null,
                "capabilities": { "acp": true, "permissions": true, "questions": true, "plans": true,
                    "steering": true, "resume": true, "fork": false },
                "createdAt": at, "updatedAt": at, "newestSeq": 3,
            } }
        Unknown { "budgetAsked": { "id": 1 } }
    }
}

/// observation-14: "a test publishes every variant and receives every variant byte-equal after JSON normalisation".
#[tokio::test]
async fn every_variant_arrives_as_it_was_published() {
    let home = TempDir::new().unwrap();
    let (_store, journal) = journal(&home).await;
    let (worker, agent): (SessionId, _) = ("s".parse().unwrap(), "mock".parse().unwrap());
    let frames = FrameRenderer::new(worker.clone(), journal.bounds().epoch);
    let reader = journal.reader(StartPosition::Resume(Seq::ZERO)).unwrap();
    let source = ObservedEvents { frames, reader, covered: 0, is_live: true, has_ended: false };
    let mut observation = Observation { ready: VecDeque::new(), source: Ok(source) };
    for (seq, event) in (1..).zip(every_variant()) {
        let body = RecordBody {
            id: EventId::mint(),
            time: Timestamp::UNIX_EPOCH,
            session_id: &worker,
            agent: &agent,
            agent_session_id: Some("native"),
            event: &event,
            synthetic: seq % 2 == 0,
        };
        // observation-25: a payload has one member, named after the kind of event.
        let payload = json!(event);
        assert!(payload.as_object().is_some_and(|members| members.len() == 1), "{payload}");
        journal.append(Batch::one(encode(&body, Some(b"{}"), &mut Vec::new()))).await.unwrap();
        let arrived = observation.next().await.unwrap();
        let arrived: Vec<Value> =
            arrived.iter().map(|frame| serde_json::from_slice(frame).unwrap()).collect();
        let cursor = journal.cursor(Seq::new(seq)).to_string();
        let envelope = json!({
            "cursor": cursor, "event_id": cursor, "worker_id": "s", "time": Timestamp::UNIX_EPOCH, "payload": event,
        });
        assert_eq!(arrived, [json!({ "kind": "event", "envelope": envelope })]);
    }
}

/// observation-54, observation-58: the events that a resuming client may request are bounded in bytes too, "8 MiB per worker".
#[tokio::test]
async fn a_cursor_expires_by_bytes() {
    let home = TempDir::new().unwrap();
    let (_store, journal) = journal(&home).await;
    for _ in 0..9 {
        journal.append(Batch::one(vec![b' '; 1 << 20])).await.unwrap();
    }
    let place = async |seq| resume::resume_point(&journal, &journal.cursor(Seq::new(seq)).to_string()).await;
    assert_eq!(place(0).await, Err(resume::expired()));
    for seq in [1, 9] {
        assert_eq!(place(seq).await, Ok(ResumePoint(seq)));
    }
    // One byte more.
    journal.append(Batch::one(vec![b' '])).await.unwrap();
    assert_eq!(place(1).await, Err(resume::expired()));
    assert_eq!(place(2).await, Ok(ResumePoint(2)));
}

/// observation-64: a record without an event is reported and left out, and those after it arrive.
#[tokio::test]
async fn a_record_without_an_event_is_skipped() {
    let home = TempDir::new().unwrap();
    let (_store, journal) = journal(&home).await;
    let frames = FrameRenderer::new("s".parse().unwrap(), journal.bounds().epoch);
    let reader = journal.reader(StartPosition::Resume(Seq::ZERO)).unwrap();
    let source = ObservedEvents { frames, reader, covered: 0, is_live: true, has_ended: false };
    let mut observation = Observation { ready: VecDeque::new(), source: Ok(source) };
    let worker = "s".parse().unwrap();
    let body = RecordBody {
        id: EventId::mint(),
        time: Timestamp::UNIX_EPOCH,
        session_id: &worker,
        agent: &"mock".parse().unwrap(),
        agent_session_id: None,
        event: &every_variant().into_iter().next().unwrap(),
        synthetic: false,
    };
    let whole = encode(&body, None, &mut Vec::new());
    let cut = b",\"event\":{\"status\":{\"detail\":\"\xff\"}}}";
    let not_utf8 = [&(cut.len() as u32).to_le_bytes()[..], cut].concat();
    for record in [b"not a record".to_vec(), not_utf8, whole.to_vec()] {
        journal.append(Batch::one(record)).await.unwrap();
    }
    let mut arrived: Vec<Value> = Vec::new();
    while arrived.len() < 3 {
        let frames = observation.next().await.unwrap();
        arrived.extend(frames.iter().map(|frame| serde_json::from_slice::<Value>(frame).unwrap()));
    }
    for (seq, skipped) in (1..).zip(&arrived[..2]) {
        assert_eq!(skipped["diagnostic"]["code"], "runtime.serialize_failed");
        assert_eq!(skipped["diagnostic"]["details"]["cursor"], journal.cursor(Seq::new(seq)).to_string());
    }
    assert_eq!(arrived[2]["envelope"]["payload"], json!(body.event));
}
