//! Which files a store opens, and which it refuses and leaves unchanged.

use std::path::Path;

use journal::{
    FrameBuffer, Retention,
    durable::{Error, JournalStore, RecordUpdate},
};
use rusqlite::Connection;

use crate::{backend::run, store::Home};

/// Checks that opening the file fails as expected and leaves it unchanged.
fn check_refused(path: &Path, expected: impl FnOnce(&Error) -> bool) {
    let before = std::fs::read(path).unwrap();
    let error = JournalStore::open(path).expect_err("it opened");
    assert!(expected(&error), "{error:?}");
    assert!(std::fs::read(path).unwrap() == before, "the file was touched");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_unchanged() {
    let home = Home::new();
    std::fs::write(home.path(), "not a database at all, but long enough to be looked at ".repeat(100))
        .unwrap();
    check_refused(&home.path(), |error| matches!(error, Error::Corrupt { .. }));
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_left_unchanged() {
    let home = Home::new();
    home.open().close();
    let conn = Connection::open(home.path()).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    check_refused(&home.path(), |error| matches!(error, Error::Newer { found: 99, known: 3, .. }));
}

/// A file of the first version, without records and with another index, is migrated and keeps its frames.
#[test]
fn a_file_of_an_older_version_is_migrated() {
    run(async {
        let home = Home::new();
        let store = home.open();
        let one = store.journal("one", Retention::UNLIMITED).await.unwrap();
        one.append(FrameBuffer::one("kept")).await.unwrap();
        drop(one);
        store.close();
        let conn = Connection::open(home.path()).unwrap();
        conn.execute_batch(
            "DROP TABLE notes; DROP TABLE places; DROP TABLE placed;
            CREATE UNIQUE INDEX events_by_seq ON events (journal, seq); PRAGMA user_version = 1",
        )
        .unwrap();
        drop(conn);
        let store = home.open();
        let one = store.journal("one", Retention::UNLIMITED).await.unwrap();
        assert_eq!(one.bounds().events, 1);
        one.append_with_records(FrameBuffer::default(), vec![RecordUpdate::put("state", "k", "new")])
            .await
            .unwrap();
        assert_eq!(one.record("state", "k".into()).await.unwrap().unwrap(), "new");
    });
}

#[test]
fn a_database_of_something_else_is_refused_and_left_unchanged() {
    let home = Home::new();
    Connection::open(home.path()).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    check_refused(&home.path(), |error| matches!(error, Error::Foreign(_)));
}

#[test]
fn a_file_cannot_be_opened_twice() {
    let home = Home::new();
    let store = home.open();
    assert!(matches!(JournalStore::open(home.path()), Err(Error::Locked(_))));
    drop(store);
    home.open();
}
