//! The secrets of a session, which are not in its journal.

use std::{fs, path::Path};

use journal::{
    Retention,
    durable::{JournalStore, RecordUpdate},
};
use protocol::sessions::CreateSessionRequest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::runtime::{id, sessions};

const KEY: &str = "sk-canary";

/// Lets the runtime create the session `s`, or find it, and ends the runtime.
async fn create(home: &TempDir) {
    let request = json!({ "agent": "mock", "env": { "API_KEY": KEY } });
    let request: CreateSessionRequest = serde_json::from_value(request).unwrap();
    let sessions = sessions(home);
    assert!(sessions.create(&id(), request).await.unwrap().healthy);
    sessions.shutdown().await;
}

/// The stored record of the session, after `change`.
async fn record(directory: &Path, change: impl FnOnce(&mut Value)) -> Value {
    let store = JournalStore::open(directory.join("sessions.db")).unwrap();
    let journal = store.journal(id().as_str(), Retention::UNLIMITED).await.unwrap();
    let stored = journal.record("session", String::new()).await.unwrap().unwrap();
    let mut record: Value = serde_json::from_slice(&stored).unwrap();
    change(&mut record);
    let update = RecordUpdate::put("session", "", serde_json::to_vec(&record).unwrap());
    journal.append_with_records(Default::default(), vec![update]).await.unwrap();
    record
}

/// Earlier versions stored the whole request in the journal.
#[tokio::test]
async fn secrets_that_an_earlier_version_stored_in_the_journal_are_moved_out() {
    let home = TempDir::new().unwrap();
    let directory = home.path().join("sessions");
    let private = directory.join("private/s");
    create(&home).await;
    let stored = record(&directory, |record| {
        assert_eq!(record["create"].get("env"), None);
        record["create"]["env"] = json!({ "API_KEY": KEY });
        record.as_object_mut().unwrap().remove("hasSecrets");
    });
    assert!(stored.await.to_string().contains(KEY));
    fs::remove_dir_all(&private).unwrap();
    // The same request finds the session, so its secrets were found too.
    create(&home).await;
    assert!(!record(&directory, |_| ()).await.to_string().contains(KEY));
    assert!(fs::read_to_string(private.join("secrets.json")).unwrap().contains(KEY));
}
