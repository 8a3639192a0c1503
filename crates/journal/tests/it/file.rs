//! Which files are opened, and which are left alone.

use std::path::Path;

use journal::durable::{Error, Store};
use rusqlite::Connection;

use crate::store::Home;

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
    refused(&home.path(), |error| matches!(error, Error::Newer { found: 99, known: 1, .. }));
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
