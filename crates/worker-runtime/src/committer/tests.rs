use journal::{Retention, durable::JournalStore};
use protocol::{SessionId, sessions::CreateSessionRequest};
use tempfile::TempDir;

use super::*;
use crate::{
    agent_slot::AgentPhase,
    metrics::SessionMetrics,
    open_waits::OpenWaits,
    session_handle::{SessionActivity, describe},
    stored_session::{SESSION, StoredOptions, StoredSession},
};

/// A handle of a stored session.
async fn handle(store: &JournalStore) -> Arc<SessionHandle> {
    let id: SessionId = "s".parse().unwrap();
    let journal = store.journal(id.as_str(), Retention::UNLIMITED).await.unwrap();
    let options = StoredOptions::new(&CreateSessionRequest::new("mock".parse().unwrap()));
    let stored = StoredSession::new(options, false, "/".into());
    journal.append_with_records(Default::default(), vec![stored.update()]).await.unwrap();
    let view = describe(&id, &stored, None, SessionActivity::default());
    SessionHandle::unreadable(id, journal, view, &Arc::new(OpenWaits::new()))
}

/// A worker that stops while the disk is full gathers the changes of its end after those that it could not write. The replies to
/// the earlier ones still wait, so they must be stored too.
#[tokio::test]
async fn changes_that_were_gathered_and_not_written_are_stored_with_the_next_ones() {
    let home = TempDir::new().unwrap();
    let store = JournalStore::open(home.path().join("sessions.db")).unwrap();
    let handle = handle(&store).await;
    let mut conversation = ConversationState::restore(&handle, SessionMetrics::default()).await.unwrap();
    let mut committer = Committer::new(handle.clone());

    conversation.emit_status(AgentPhase::Absent, Some("first".into()));
    assert!(!committer.gather(&mut conversation));
    conversation.emit_status(AgentPhase::Absent, Some("second".into()));
    conversation.store_all();
    assert!(committer.gather(&mut conversation));
    committer.write().await.unwrap();

    assert_eq!((committer.newest_seq(), handle.journal.bounds().newest.get()), (2, 2));
    let record = handle.journal.record(SESSION, String::new()).await.unwrap().unwrap();
    assert_eq!(StoredSession::parse(&record).unwrap().folded, 2);
}
