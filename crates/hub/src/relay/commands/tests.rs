use jiff::Timestamp;

use super::*;
use crate::relay::{acceptance::Allowed, store::EnvironmentEntry};

fn start() -> Arc<Start> {
    let entry: EnvironmentEntry = serde_json::from_value(serde_json::json!({
        "id": EnvironmentId::mint(), "clientId": "laptop", "runtimeId": "box", "runtime": "process", "workspace": "default",
        "approvals": {}, "createdAt": Timestamp::now(), "createdBy": "ana", "digest": "",
    }))
    .unwrap();
    Arc::new(Start {
        environment: Arc::new(Environment::new(Arc::new(entry), Allowed::default())),
        session: None,
        revoked: CancellationToken::new(),
        lost: CancellationToken::new(),
    })
}

fn laptop() -> ClientId {
    "laptop".parse().unwrap()
}

fn names(taken: &[Taken]) -> Vec<&str> {
    taken.iter().map(|taken| taken.id.as_str()).collect()
}

/// relay-118: a command is there for who has started it, also when it has ended.
#[test]
fn what_one_has_started_is_not_there_for_another() {
    let (commands, one, two) = (Commands::default(), start(), start());
    let (first, second) = (one.environment.entry.id, two.environment.entry.id);
    assert!(commands.started("c1", &one).is_none());
    let apart = |client: &str, id: &str, than| commands.is_of_another(&client.parse().unwrap(), id, than);
    assert!(apart("laptop", "c1", second) && !apart("laptop", "c1", first));
    assert!(!apart("laptop", "c2", second), "of what is not known the device decides");
    assert!(!apart("phone", "c1", second));
    // A device that gives its name again gives it to nobody else.
    assert!(commands.started("c1", &two).is_none());
    commands.ended("c1", &one);
    assert!(apart("laptop", "c1", second));
    for number in 0..ENDED_MAX {
        assert!(commands.started(&format!("d{number}"), &one).is_none());
        commands.ended(&format!("d{number}"), &one);
    }
    assert!(!apart("laptop", "c1", second) && apart("laptop", "d0", second));
}

/// relay-157: what may not go on is taken to be ended, once; if nothing came of that, again.
#[test]
fn what_may_not_go_on_is_taken() {
    let (commands, one, two) = (Commands::default(), start(), start());
    for (id, start) in [("a", &one), ("b", &one), ("c", &two)] {
        assert!(commands.started(id, start).is_none());
    }
    assert!(commands.take(&laptop(), false).is_empty());
    one.revoked.cancel();
    let taken = commands.take(&laptop(), false);
    assert_eq!(names(&taken), ["a", "b"]);
    assert!(commands.take(&laptop(), false).is_empty(), "somebody does so already");
    taken[0].is_over();
    drop(taken);
    assert_eq!(names(&commands.take(&laptop(), false)), ["b"]);
    two.lost.cancel();
    assert_eq!(commands.take(&laptop(), false).len(), 2);
    assert_eq!(commands.take(&"phone".parse().unwrap(), true).len(), 0);
}

/// Nothing is remembered without end: neither commands, nor environments, nor devices that are gone.
#[test]
fn only_so_much_is_remembered() {
    let (commands, one) = (Commands::default(), start());
    assert!(commands.started(&"x".repeat(NAME_BYTES_MAX + 1), &one).is_none());
    for number in 0..GOING_MAX {
        assert!(commands.started(&format!("c{number}"), &one).is_none());
    }
    let room = commands.started("one more", &one).unwrap();
    assert_eq!(room.id, "c0");
    drop(room);
    assert_eq!(commands.take(&laptop(), true).len(), GOING_MAX);
    let id = one.environment.entry.id;
    commands.sweep(|_| true, |_| false);
    assert!(commands.is_of_another(&laptop(), "c1", EnvironmentId::mint()), "it may go on");
    commands.take(&laptop(), true).iter().for_each(Taken::is_over);
    commands.sweep(|_| true, |known| known == id);
    assert_eq!(commands.0.lock()[&laptop()].owners.len(), ENDED_MAX);
    commands.sweep(|_| true, |_| false);
    assert!(commands.0.lock().is_empty());
    assert!(commands.started("c1", &one).is_none());
    commands.sweep(|_| false, |_| true);
    assert!(commands.0.lock().is_empty());
}
