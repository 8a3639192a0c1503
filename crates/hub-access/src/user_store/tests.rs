#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use jiff::SignedDuration;
use protocol::{hub::Role, people::TokenScope};
use secrecy::ExposeSecret;

use super::*;
use crate::state_file::StoredState;

fn open(directory: &std::path::Path) -> (UserStore, Option<NewToken>) {
    UserStore::open(directory.join("people.json")).unwrap()
}

fn viewer() -> UpdateUserRequest {
    UpdateUserRequest {
        is_admin: false,
        default_role: None,
        roles: BTreeMap::from([("lab".parse().unwrap(), Role::Viewer)]),
    }
}

fn add(name: &str) -> CreateTokenRequest {
    CreateTokenRequest {
        name: name.parse().unwrap(),
        user: None,
        scope: None,
        expires_at: None,
        current_token: None,
    }
}

/// The first time there is an owner of everything, also of what comes later, with a token that is shown once.
#[test]
fn the_first_is_the_owner_of_everything() {
    let directory = tempfile::tempdir().unwrap();
    let (people, new) = open(directory.path());
    let rights = people.find(new.unwrap().expose_secret()).unwrap();
    assert!(rights.is_admin());
    assert_eq!(rights.role_in(&"made-later".parse().unwrap()), Some(Role::Owner));
    assert!(open(directory.path()).1.is_none(), "there is one already");
}

/// What a token may do is what its user may, as far as its scope goes.
#[test]
fn a_scope_takes_away_and_never_gives() {
    let directory = tempfile::tempdir().unwrap();
    let (people, _) = open(directory.path());
    let ana: UserName = "ana".parse().unwrap();
    let roles = [("lab", Role::Controller), ("own", Role::Owner)];
    let roles = roles.map(|(name, role)| (name.parse().unwrap(), role)).into_iter().collect();
    people
        .add_user(ana.clone(), UpdateUserRequest { is_admin: true, default_role: Some(Role::Viewer), roles })
        .unwrap();
    let check = |scope: Option<TokenScope>, expected: [Option<Role>; 3]| {
        let (_, new) =
            people.add_token(&ana, CreateTokenRequest { scope: scope.clone(), ..add("t") }).unwrap();
        let rights = people.find(new.expose_secret()).unwrap();
        let found = ["lab", "own", "other"].map(|name| rights.role_in(&name.parse().unwrap()));
        assert_eq!(found, expected, "{scope:?}");
        assert_eq!(rights.is_admin(), scope.is_none());
    };
    let some = |role| Some(role);
    check(None, [some(Role::Controller), some(Role::Owner), some(Role::Viewer)]);
    let capped = |role| Some(TokenScope { role: Some(role), workspaces: None });
    check(capped(Role::Viewer), [some(Role::Viewer); 3]);
    check(capped(Role::Owner), [some(Role::Controller), some(Role::Owner), some(Role::Viewer)]);
    let only = TokenScope { role: None, workspaces: Some(vec!["own".parse().unwrap()]) };
    check(Some(only), [None, some(Role::Owner), None]);
    check(Some(TokenScope { role: None, workspaces: Some(vec![]) }), [None; 3]);
}

/// A token that has expired lets nobody in, and is forgotten with the next change.
#[test]
fn what_has_expired_is_forgotten() {
    let ana: UserName = "ana".parse().unwrap();
    let (mut state, now) = (UserDirectory::default(), Timestamp::now());
    state.add_user(ana.clone(), viewer(), now).unwrap();
    let new = NewToken::mint(TOKEN_PREFIX).unwrap();
    let later = now + SignedDuration::from_secs(60);
    state.add_token(&ana, CreateTokenRequest { expires_at: Some(later), ..add("t") }, &new, now).unwrap();
    let digest = token_digest(new.expose_secret());
    assert!(state.find(&digest, now).is_some());
    assert!(state.find(&digest, later).is_none());
    state.sweep(now);
    assert_eq!(state.tokens(&ana, now).unwrap().len(), 1);
    state.sweep(later);
    assert!(state.find(&digest, now).is_none());
}

/// A user has only so many tokens; browsers make room for each other, and not beyond that.
#[test]
fn a_user_has_only_so_many_tokens() {
    let ana: UserName = "ana".parse().unwrap();
    let (mut state, now) = (UserDirectory::default(), Timestamp::now());
    state.add_user(ana.clone(), viewer(), now).unwrap();
    let first = NewToken::mint(TOKEN_PREFIX).unwrap();
    let digest = token_digest(first.expose_secret());
    state.add_token(&ana, add("first"), &first, now).unwrap();
    let log_in =
        |state: &mut UserDirectory| state.log_in(&digest, &NewToken::mint(TOKEN_PREFIX).unwrap(), now);
    for _ in 0..200 {
        log_in(&mut state).unwrap();
    }
    assert_eq!(state.tokens(&ana, now).unwrap().len(), 100);
    let full = state.add_token(&ana, add("more"), &NewToken::mint(TOKEN_PREFIX).unwrap(), now);
    assert!(matches!(full, Err(UserStoreError::Full { .. })));
    assert!(state.find(&digest, now).is_some(), "the token itself stays");
    let id = state.find(&digest, now).unwrap().token.id;
    state.revoke(id).unwrap();
    assert_eq!(state.tokens(&ana, now).unwrap().len(), 0, "they go with it");
}

/// What cannot be written down is not done.
#[test]
fn what_cannot_be_written_is_not_done() {
    let directory = tempfile::tempdir().unwrap();
    let (people, new) = open(directory.path());
    drop(directory);
    assert!(matches!(people.add_user("ana".parse().unwrap(), viewer()), Err(UserStoreError::File(_))));
    assert_eq!(people.users().len(), 1);
    let id = people.find(new.unwrap().expose_secret()).unwrap().token.id;
    assert!(people.revoke(id).is_err());
    assert!(people.token(id).is_ok());
}
