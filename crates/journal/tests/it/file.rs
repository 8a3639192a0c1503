//! Which files are opened, and which are left alone.

use std::path::Path;

use journal::{
    Frames, Retention,
    durable::{Error, Note, Store},
};
use rusqlite::Connection;

use crate::{backend::run, store::Home};

/// Opening the file must fail as `expected` says, and leave it as it was.
fn refused(path: &Path, expected: impl FnOnce(&Error) -> bool) {
    let before = std::fs::read(path).unwrap();
    let error = Store::open(path).expect_err("it opened");
    assert!(expected(&error), "{error:?}");
    assert!(std::fs::read(path).unwrap() == before, "the file was touched");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_not_touched() {
    let home = Home::new();
    std::fs::write(home.path(), "not a database at all, but long enough to be looked at ".repeat(100))
        .unwrap();
    refused(&home.path(), |error| matches!(error, Error::Corrupt { .. }));
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_not_touched() {
    let home = Home::new();
    home.open().close();
    let conn = Connection::open(home.path()).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    refused(&home.path(), |error| matches!(error, Error::Newer { found: 99, known: 3, .. }));
}

/// A file of the first version, which had no notes and an index of its own, is brought up to date and keeps what it holds.
#[test]
fn a_file_of_an_older_version_is_brought_up_to_date() {
    run(async {
        let home = Home::new();
        let store = home.open();
        let one = store.journal("one", Retention::UNLIMITED).await.unwrap();
        one.append(Frames::one("kept")).await.unwrap();
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
        one.append_noting(Frames::default(), vec![Note::says("state", "k", "new")]).await.unwrap();
        assert_eq!(one.note("state", "k".into()).await.unwrap().unwrap(), "new");
    });
}

#[test]
fn a_database_of_something_else_is_refused_and_not_touched() {
    let home = Home::new();
    Connection::open(home.path()).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    refused(&home.path(), |error| matches!(error, Error::Foreign(_)));
}

#[test]
fn a_file_is_open_once() {
    let home = Home::new();
    let store = home.open();
    assert!(matches!(Store::open(home.path()), Err(Error::Locked(_))));
    drop(store);
    home.open();
}
