use hub_access::StoredState;
use jiff::SignedDuration;
use secrecy::ExposeSecret;
use serde_json::json;

use super::*;

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("relay.json")).unwrap();
    (directory, store)
}

fn laptop(workspace: &str) -> NewDevice {
    NewDevice {
        client_id: "laptop".parse().unwrap(),
        workspace: workspace.parse().unwrap(),
        label: None,
        instance_id: None,
        expires_at: None,
        by: "ana".parse().unwrap(),
    }
}

/// What was written is there when the file is read again, and no secret is in it.
#[test]
fn what_is_lent_is_read_again() {
    let (directory, store) = store();
    let (Added { device, token, .. }, secret) = store.add_device(laptop("default")).unwrap();
    let grant = json!({ "clientId": "laptop", "runtimeId": "box", "capabilities": [] });
    let (add, runtime) = (serde_json::from_value(grant).unwrap(), Identity::Process);
    let grant = store.change(|state, now| state.add_grant(add, runtime, now)).unwrap();
    store.set_enabled(&"lab".parse().unwrap(), false).unwrap();
    let path = directory.path().join("relay.json");
    assert!(!std::fs::read_to_string(&path).unwrap().contains(secret.expose_secret()));
    let state = Store::open(path).unwrap().now();
    let (found, by) = state.find(&secret.digest(), Timestamp::now()).unwrap();
    assert_eq!((&found.client_id, by.token.id), (&device.client_id, token.token.id));
    let kept = state.grants(Timestamp::now()).next().unwrap();
    assert_eq!((&kept.grant, &kept.runtime), (&grant, &Some(Identity::Process)));
    assert!(!state.is_enabled(&"lab".parse().unwrap()) && state.version() == 2);
}

/// relay-125: a token is for one device of one workspace, and a stopped device has none.
#[test]
fn a_device_is_of_one_workspace_and_can_be_stopped() {
    let (_directory, store) = store();
    let (Added { token, .. }, secret) = store.add_device(laptop("default")).unwrap();
    assert!(matches!(store.add_device(laptop("lab")), Err(Error::DeviceTaken(_))));
    let mut reserved = laptop("default");
    reserved.client_id = "pairings".parse().unwrap();
    assert!(matches!(store.add_device(reserved), Err(Error::Invalid(_))));
    let (now, id) = (Timestamp::now(), "laptop".parse().unwrap());
    assert!(store.now().is_good(&id, token.token.id, now));
    store.change(|state, _| state.stop_device(&id)).unwrap();
    assert!(!store.now().is_good(&id, token.token.id, now));
    assert!(store.now().find(&secret.digest(), now).is_none());
    let (Added { token: again, .. }, _) = store.add_device(laptop("default")).unwrap();
    assert!(store.now().is_good(&id, again.token.id, now));
}

/// What ends by itself is no good from then on, and is forgotten with the next change.
#[test]
fn what_has_ended_is_no_good() {
    let (_directory, store) = store();
    let soon = Timestamp::now() + SignedDuration::from_secs(60);
    let mut new = laptop("default");
    new.expires_at = Some(soon);
    let (Added { token, .. }, secret) = store.add_device(new).unwrap();
    let state = store.now();
    assert_eq!(state.next_end(Timestamp::now()), Some(soon));
    assert!(state.find(&secret.digest(), soon - SignedDuration::from_secs(1)).is_some());
    assert!(state.find(&secret.digest(), soon).is_none());
    assert!(!state.is_good(&"laptop".parse().unwrap(), token.token.id, soon));
    let mut swept = State::clone(&state);
    swept.sweep(soon);
    assert!(swept.device(&"laptop".parse().unwrap()).unwrap().tokens.is_empty());
}

/// A device is let in with all that is to be granted of it, or not at all.
#[test]
fn a_device_is_let_in_with_its_grants_or_not_at_all() {
    let (_directory, store) = store();
    let grant = |scope: &str| {
        let add = json!({ "clientId": "laptop", "runtimeId": "box", "scopeId": scope, "capabilities": [] });
        (serde_json::from_value(add).unwrap(), Identity::Process)
    };
    let refused = store.pair_device(laptop("default"), vec![grant("one"), grant("")]);
    assert!(matches!(refused, Err(Error::Invalid(_))));
    let state = store.now();
    assert_eq!((state.devices().count(), state.grants(Timestamp::now()).count()), (0, 0));
    let (Added { grants, .. }, _) =
        store.pair_device(laptop("default"), vec![grant("one"), grant("two")]).unwrap();
    assert_eq!((grants.len(), store.now().grants(Timestamp::now()).count()), (2, 2));
    // One that is paired again has what it is given then, and a further copy of it takes nothing away.
    store.add_device(laptop("default")).unwrap();
    assert_eq!(store.now().grants(Timestamp::now()).count(), 2);
    store.pair_device(laptop("default"), vec![grant("three")]).unwrap();
    assert_eq!(store.now().grants(Timestamp::now()).count(), 1);
}

/// A file of before it was written down which runtime something is for is read; nothing in it is for anybody.
#[test]
fn what_is_for_a_runtime_that_is_not_known_is_for_none() {
    let (directory, _) = store();
    let path = directory.path().join("relay.json");
    let grant = json!({
        "grant_id": protocol::GrantId::mint(), "client_id": "laptop", "runtime_id": "box", "capabilities": [],
        "created_at": "2026-01-01T00:00:00Z",
    });
    std::fs::write(&path, json!({ "version": 1, "grants": [grant] }).to_string()).unwrap();
    let state = Store::open(path).unwrap().now();
    assert_eq!(state.grants(Timestamp::now()).next().unwrap().runtime, None);
}
