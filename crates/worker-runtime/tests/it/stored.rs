//! Records that an earlier or a newer version wrote, and records that cannot be read.

use std::{fs, path::Path, process::Command};

use journal::{
    Retention,
    durable::{JournalStore, RecordUpdate},
};
use protocol::{
    SessionId,
    sessions::{AgentError, CreateSessionRequest, SendMessageRequest, SessionState},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use worker_runtime::{Error, SessionFilter, Sessions};

use crate::runtime::{id, sessions, within};

fn request(body: Value) -> CreateSessionRequest {
    serde_json::from_value(body).unwrap()
}

fn message(text: &str) -> SendMessageRequest {
    serde_json::from_value(json!({ "message": text })).unwrap()
}

/// Lets a runtime store the session `s` with one queued and settled input, and ends the runtime.
async fn store_session(home: &TempDir) {
    let sessions = sessions(home);
    assert!(sessions.create(&id(), request(json!({ "agent": "mock" }))).await.unwrap().healthy);
    send_and_wait(&sessions, "hello").await;
    stop(sessions).await;
}

/// Ends a runtime, which releases its database.
async fn stop(sessions: Sessions) {
    sessions.shutdown().await;
}

/// Sends a message to the session `s` and waits for the end of its turn.
async fn send_and_wait(sessions: &Sessions, text: &str) {
    let turn = sessions.send(&id(), message(text), None).await.unwrap().turn_id;
    let turn = json!(turn);
    within(async {
        loop {
            let (page, _) = sessions.page(&id(), 0, None, false).await.unwrap();
            let events: Vec<Value> = serde_json::from_slice(&page).unwrap();
            if events.iter().any(|record| record["event"]["turnEnded"]["turnId"] == turn) {
                break;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// The only record of a kind, as it is stored.
async fn read_record(home: &TempDir, kind: &'static str) -> (String, Vec<u8>) {
    let store = JournalStore::open(home.path().join("sessions/sessions.db")).unwrap();
    let record = store.records(kind).await.unwrap().remove(0);
    (record.key, record.value.to_vec())
}

/// Changes the only record of a kind.
async fn change_record(home: &TempDir, kind: &'static str, change: impl FnOnce(&mut Value)) {
    let (key, json) = read_record(home, kind).await;
    let mut record = serde_json::from_slice(&json).unwrap();
    change(&mut record);
    write_record(home, RecordUpdate::put(kind, key, serde_json::to_vec(&record).unwrap())).await;
}

async fn write_record(home: &TempDir, update: RecordUpdate) {
    let store = JournalStore::open(home.path().join("sessions/sessions.db")).unwrap();
    let journal = store.journal(id().as_str(), Retention::UNLIMITED).await.unwrap();
    journal.append_with_records(Default::default(), vec![update]).await.unwrap();
}

/// Checks that the session `s` is listed as unreadable, that nothing else takes its id, and that its record stays as it is.
async fn check_unreadable(home: &TempDir, cause: &str) {
    let before = read_record(home, "session").await;
    let sessions = sessions(home);
    let listed = sessions.list(&SessionFilter::default()).await.unwrap();
    assert_eq!(listed.iter().map(|session| &session.id).collect::<Vec<_>>(), [&id()]);
    let Some(AgentError::StorageError { message }) = &listed[0].error else {
        panic!("{:?}", listed[0].error)
    };
    assert!(message.contains(cause), "{message}");
    assert_eq!(sessions.get(&id()).await.unwrap(), listed[0]);

    let unreadable = |error: Error| matches!(error, Error::Unreadable { .. } | Error::Secrets { .. });
    for agent in ["mock", "claude"] {
        let refused = sessions.create(&id(), request(json!({ "agent": agent }))).await;
        assert!(unreadable(refused.unwrap_err()));
    }
    assert!(unreadable(sessions.send(&id(), self::message("hello"), None).await.unwrap_err()));
    assert!(unreadable(sessions.snapshot(&id()).await.unwrap_err()));
    // Events do not depend on the record.
    let (events, _) = sessions.page(&id(), 0, None, false).await.unwrap();
    assert!(String::from_utf8_lossy(&events).contains("turnEnded"));

    let another: SessionId = "another".parse().unwrap();
    assert!(sessions.create(&another, request(json!({ "agent": "mock" }))).await.unwrap().healthy);
    sessions.delete(&another).await.unwrap();
    stop(sessions).await;
    assert_eq!(read_record(home, "session").await, before);
}

/// sessions-13: "the list of sessions is there", also after a newer version has used the same data.
#[tokio::test]
async fn a_session_of_a_newer_version_is_listed_and_keeps_its_id() {
    let home = TempDir::new().unwrap();
    store_session(&home).await;
    change_record(&home, "session", |record| record["version"] = json!(2)).await;
    check_unreadable(&home, "a newer version of Tombolo wrote it").await;
    // That version can use it again.
    change_record(&home, "session", |record| record["version"] = json!(1)).await;
    let sessions = sessions(&home);
    send_and_wait(&sessions, "again").await;
    stop(sessions).await;
}

#[tokio::test]
async fn a_session_with_a_damaged_record_is_listed_until_it_is_deleted() {
    let home = TempDir::new().unwrap();
    store_session(&home).await;
    write_record(&home, RecordUpdate::put("session", "", &b"{\"create\""[..])).await;
    check_unreadable(&home, "cannot be read").await;
    let sessions = sessions(&home);
    sessions.delete(&id()).await.unwrap();
    assert!(sessions.list(&SessionFilter::default()).await.unwrap().is_empty());
    assert!(sessions.create(&id(), request(json!({ "agent": "mock" }))).await.unwrap().healthy);
    stop(sessions).await;
}

#[tokio::test]
async fn a_session_without_its_secrets_is_listed_and_keeps_its_id() {
    let home = TempDir::new().unwrap();
    store_session(&home).await;
    change_record(&home, "session", |record| record["hasSecrets"] = json!(true)).await;
    check_unreadable(&home, "could not read or write the secrets").await;
}

/// An input that is not understood could be queued, or could have an idempotency key: it is neither dropped nor repeated.
#[tokio::test]
async fn a_session_with_an_unreadable_input_or_wait_is_refused_and_not_changed() {
    for (kind, text) in [("input", "hello"), ("wait", "/permission")] {
        let home = TempDir::new().unwrap();
        let sessions = sessions(&home);
        assert!(sessions.create(&id(), request(json!({ "agent": "mock" }))).await.unwrap().healthy);
        sessions.send(&id(), message(text), None).await.unwrap();
        within(async {
            while kind == "wait" && sessions.waits().await.unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        stop(sessions).await;
        change_record(&home, kind, |record| record["version"] = json!(2)).await;
        let before = read_record(&home, kind).await;

        let sessions = crate::runtime::sessions(&home);
        let refused = sessions.send(&id(), message("more"), None).await.unwrap_err();
        assert!(
            matches!(&refused, Error::Unreadable { record, .. } if record.starts_with(kind)),
            "{refused}"
        );
        let listed = sessions.get(&id()).await.unwrap();
        assert!(matches!(listed.error, Some(AgentError::StorageError { .. })), "{:?}", listed.error);
        stop(sessions).await;
        assert_eq!(read_record(&home, kind).await, before);
    }
}

#[tokio::test]
async fn fields_of_a_newer_version_survive_a_turn() {
    let home = TempDir::new().unwrap();
    store_session(&home).await;
    change_record(&home, "session", |record| {
        record["budget"] = json!({ "tokens": 7 });
        record["create"]["sandbox"] = json!("strict");
    })
    .await;
    let sessions = sessions(&home);
    send_and_wait(&sessions, "again").await;
    stop(sessions).await;
    let record: Value = serde_json::from_slice(&read_record(&home, "session").await.1).unwrap();
    assert_eq!(
        (&record["budget"], &record["create"]["sandbox"]),
        (&json!({ "tokens": 7 }), &json!("strict"))
    );
    assert_eq!(record["runs"], 2);
}

/// Data of the last version before records had a version: it was killed in a turn that waited for a permission, with a second
/// message in the queue.
#[tokio::test]
async fn sessions_without_a_version_open_and_go_on() {
    let home = TempDir::new().unwrap();
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/upgrade/sessions-without-version");
    let copied = Command::new("cp").arg("-r").arg(fixture).arg(home.path().join("sessions")).status();
    assert!(copied.unwrap().success());
    let sessions = sessions(&home);
    let (open, done): (SessionId, SessionId) = ("open".parse().unwrap(), "done".parse().unwrap());
    let mut listed = sessions.list(&SessionFilter::default()).await.unwrap();
    listed.sort_by(|one, other| one.id.cmp(&other.id));
    let titles: Vec<_> =
        listed.iter().map(|session| (session.id.as_str(), session.title.as_deref())).collect();
    assert_eq!(titles, [("done", Some("Done")), ("open", Some("first"))]);
    assert!(listed.iter().all(|session| session.error.is_none()), "{listed:?}");

    // The requests that created them still find them, with their secrets.
    let created = json!({ "agent": "mock", "directory": "/", "env": { "API_KEY": "sk-fixture" } });
    assert!(sessions.create(&open, request(created)).await.unwrap().healthy);
    let secrets = fs::read_to_string(home.path().join("sessions/private/open/secrets.json")).unwrap();
    assert!(secrets.contains("sk-fixture"));
    let repeated = json!({ "agent": "mock", "directory": "/", "title": "Done" });
    assert!(sessions.create(&done, request(repeated)).await.unwrap().healthy);

    // The queued message is delivered, and the request that sent it is known.
    let queued =
        json!({ "message": "second", "attachments": [{ "type": "text", "name": "a.txt", "text": "more" }] });
    let key = Some("once".parse().unwrap());
    let input = sessions.send(&open, serde_json::from_value(queued).unwrap(), key).await.unwrap().input_id;
    within(async {
        loop {
            let snapshot = sessions.snapshot(&open).await.unwrap();
            let messages: Vec<_> = snapshot.messages.iter().map(|message| message.id.clone()).collect();
            if snapshot.session.state == SessionState::Idle && messages.contains(&input.to_string()) {
                break;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(sessions.waits().await.unwrap().is_empty());
    stop(sessions).await;
}
