use std::collections::BTreeSet;

use protocol::{Event, SessionProjection};
use serde_json::Value;

use crate::case::{Case, files};

fn cases() -> impl Iterator<Item = (String, Case)> {
    files().into_iter().map(|file| (file.display().to_string(), Case::read(&file)))
}

/// Other languages are compared with what the projection says.
#[test]
fn the_fixtures_say_what_the_projection_says() {
    for file in files() {
        let case = Case::read(&file);
        let name = file.display();
        assert_eq!(
            case.states,
            case.concluded(),
            "{name}: write it again with the example `session_fixtures`"
        );
        assert_eq!(case.written(), std::fs::read_to_string(&file).unwrap(), "{name}");
    }
}

/// sessions-12: whoever comes later and begins with a snapshot knows what those know who were there all the time.
#[test]
fn a_snapshot_at_any_event_and_the_rest_are_the_whole() {
    for (name, case) in cases() {
        let end = &case.states.last().unwrap().snapshot;
        for cut in 0..=case.events.len() {
            let (before, after) = case.events.split_at(cut);
            let mut first = SessionProjection::new(case.start.clone());
            before.iter().for_each(|told| first.apply(&told.event, told.time));
            let mut second = SessionProjection::new(first.snapshot());
            after.iter().for_each(|told| second.apply(&told.event, told.time));
            assert_eq!(&second.snapshot(), end, "{name}, cut after {cut}");
        }
    }
}

/// Each kind of event is in one of them, and so is one of a newer peer.
#[test]
fn the_fixtures_have_every_kind_of_event() {
    let mut kinds = BTreeSet::new();
    for (_, case) in cases() {
        for told in &case.events {
            let Value::Object(event) = serde_json::to_value(&told.event).unwrap() else { unreachable!() };
            kinds.extend(event.keys().cloned());
        }
    }
    let schema = schemars::schema_for!(Event);
    let known = schema.get("anyOf").and_then(Value::as_array).unwrap().iter();
    let known = known.filter_map(|kind| kind["required"][0].as_str());
    let missing: Vec<_> = known.filter(|kind| !kinds.contains(*kind)).collect();
    assert!(missing.is_empty() && kinds.contains("budgetAsked"), "{missing:?} of {kinds:?}");
}
