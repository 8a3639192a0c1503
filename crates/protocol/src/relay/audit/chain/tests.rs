use serde_json::json;

use super::*;
use crate::relay::{Family, PolicyDecision};

fn entry(id: &str) -> RelayAuditEntry {
    RelayAuditEntry {
        id: id.into(),
        connection_id: "relay_conn_1".into(),
        client_id: "laptop".parse().unwrap(),
        method: "file.read".into(),
        session_id: None,
        run_id: None,
        tool_call_id: None,
        capability: Some(Family::Fileops),
        policy_decision: PolicyDecision::Allowed,
        started_at: "2026-01-01T00:00:00Z".parse().unwrap(),
        completed_at: None,
        status: None,
        error: None,
        root_id: None,
        virtual_path: None,
        summary: [("b".into(), json!(1)), ("a".into(), json!({"z": "\u{e9}\n", "y": [1, null]}))]
            .into_iter()
            .collect(),
        seq: None,
        prev_hash: None,
        hash: None,
    }
}

fn chain(count: u64) -> Vec<Value> {
    let mut head = None;
    let links = (0..count).map(|number| {
        let mut json = Vec::new();
        head = Some(append(head.as_ref(), entry(&format!("req_{number}")), &mut json));
        serde_json::from_slice(&json).unwrap()
    });
    links.collect()
}

#[track_caller]
fn check(entries: &[Value], seq: u64, why: ChainViolation) {
    assert_eq!(verify(entries), Err(BrokenChain { seq, why }));
}

/// relay-154
#[test]
fn entries_that_were_linked_hold() {
    assert_eq!(verify(&[]), Ok(None));
    let entries = chain(5);
    let head = verify(&entries).unwrap().unwrap();
    assert_eq!((head.seq, Some(head.hash.as_str())), (5, entries[4]["hash"].as_str()));
    assert!(entries[0].get("prev_hash").is_none());
}

/// relay-154: what an implementation in another language has to come to.
#[test]
fn the_hash_is_that_of_the_canonical_json() {
    let entries = chain(1);
    let canonical = concat!(
        r#"{"capability":"fileops","client_id":"laptop","connection_id":"relay_conn_1","id":"req_0","method":"file.read","#,
        r#""policy_decision":"allowed","seq":1,"started_at":"2026-01-01T00:00:00Z","#,
        r#""summary":{"a":{"y":[1,null],"z":"é\n"},"b":1}}"#
    );
    let mut text = Vec::new();
    super::write_canonical(&entries[0], &mut text, Scope::Entry);
    assert_eq!(String::from_utf8(text).unwrap(), canonical);
    assert_eq!(entries[0]["hash"], "0f12c4ca3a4b1d22d024be919425a120dc61b61bb7ce084623a9a8e98bda1bb2");
}

/// relay-154: the first broken entry is named, whatever was done to it.
#[test]
fn whatever_is_done_to_an_entry_is_seen_and_named() {
    let entries = chain(5);
    let changed = |at: usize, change: &dyn Fn(&mut Value)| {
        let mut entries = entries.clone();
        change(&mut entries[at]);
        entries
    };
    check(&changed(2, &|entry| entry["method"] = json!("file.write")), 3, ChainViolation::ContentChanged);
    check(&changed(2, &|entry| entry["summary"]["a"]["y"] = json!([1])), 3, ChainViolation::ContentChanged);
    check(&changed(2, &|entry| entry["added"] = json!(true)), 3, ChainViolation::ContentChanged);
    check(&changed(2, &|entry| entry["seq"] = json!(7)), 3, ChainViolation::WrongPosition);
    check(&changed(2, &|entry| *entry = json!("x")), 3, ChainViolation::MalformedEntry);
    check(
        &changed(0, &|entry| entry["prev_hash"] = entry["hash"].clone()),
        1,
        ChainViolation::WrongPreviousHash,
    );
    let without = |at: usize| {
        let mut entries = entries.clone();
        entries.remove(at);
        entries
    };
    check(&without(0), 1, ChainViolation::WrongPosition);
    check(&without(2), 3, ChainViolation::WrongPosition);
    let mut moved = entries.clone();
    moved.swap(1, 2);
    check(&moved, 2, ChainViolation::WrongPosition);
}

/// Who changes an entry and hashes it again breaks the one after it.
#[test]
fn an_entry_that_was_changed_and_hashed_again_does_not_fit_the_next() {
    let mut entries = chain(5);
    let head = ChainHead { seq: 2, hash: entries[1]["hash"].as_str().unwrap().parse().unwrap() };
    let mut another = Vec::new();
    let _ = append(Some(&head), entry("another"), &mut another);
    entries[2] = serde_json::from_slice(&another).unwrap();
    check(&entries, 4, ChainViolation::WrongPreviousHash);
}

/// What a newer version adds to an entry is hashed with it.
#[test]
fn an_entry_with_fields_that_are_not_known_holds() {
    let mut entries = chain(1);
    entries[0]["newer"] = json!({"x": [true]});
    entries[0]["hash"] = json!(hash(&entries[0]));
    verify(&entries).unwrap();
}

/// The oldest entries may be gone, but only those.
#[test]
fn a_part_of_a_chain_holds_by_itself() {
    let entries = chain(5);
    let mut part = ChainVerifier::from_any_position();
    entries[2..].iter().try_for_each(|entry| part.verify_next(entry)).unwrap();
    assert_eq!(part.head().map(|head| head.seq), Some(5));
    let mut after = ChainVerifier::after(verify(&entries[..2]).unwrap());
    entries[2..].iter().try_for_each(|entry| after.verify_next(entry)).unwrap();
    let mut gap = ChainVerifier::from_any_position();
    gap.verify_next(&entries[2]).unwrap();
    assert_eq!(gap.verify_next(&entries[4]), Err(BrokenChain { seq: 4, why: ChainViolation::WrongPosition }));
}
