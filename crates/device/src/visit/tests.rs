use protocol::relay::RootMode;
use serde_json::json;

use super::*;
use crate::{
    Kept,
    ledger::{Entries, verify},
};

fn request(method: &str, path: &str) -> Request {
    let params = RawJson::from_value(&json!({ "root_id": "main", "path": path }));
    Request { id: "1".into(), method: method.into(), params, context: None }
}

/// relay-153, relay-154: what is kept of a request is short, whatever it says; a long path is known by its hash.
#[tokio::test]
async fn what_is_kept_of_a_request_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path(), "laptop".parse().unwrap(), Kept::default()).unwrap();
    let virtual_path = "/workspace/main".parse().unwrap();
    let roots = [Root { root_id: "main".parse().unwrap(), label: None, virtual_path, mode: RootMode::Rw }];
    let usage = Usage::default();
    let long = "\u{1}".repeat(4000);
    let dots = format!("{}/..more{}", "x".repeat(512 - "/workspace/main//..".len()), "y".repeat(100));
    for path in [long.as_str(), &dots] {
        let mut visit = Visit::begin(&usage, Some(&ledger), &roots, &request("file.read", path));
        let running = serde_json::to_string(&usage.seen().running).unwrap();
        assert!(running.len() < 8 * 1024, "{}", running.len());
        visit.allowed(PolicyDecision::Allowed).await.unwrap();
        visit.ended(&Ok(RawJson::empty())).await;
    }
    let mut visit = Visit::begin(&usage, Some(&ledger), &roots, &request(&"m".repeat(100_000), &long));
    visit.ended(&Err(RelayError::new(RelayErrorCode::UnknownMethod, "unknown method"))).await;
    ledger.close().await;
    let entries: Vec<Value> = Entries::read(directory.path()).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(entries.len(), 5);
    assert!(entries.iter().all(|entry| entry.to_string().len() < 8 * 1024));
    for (entry, path) in entries.iter().zip([&long, &long, &dots, &dots]) {
        assert!(entry.to_string().len() < 8 * 1024, "{}", entry.to_string().len());
        let whole = format!("/workspace/main/{path}");
        let kept = serde_json::from_value::<RelayAuditEntry>(entry.clone()).unwrap().virtual_path.unwrap();
        assert!(whole.starts_with(kept.as_str()) && kept.as_str().len() > 500, "{kept}");
        let hash: String = Sha256::digest(&whole).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(entry["summary"]["path_sha256"], json!(hash));
    }
    assert_eq!(verify(Entries::read(directory.path()).unwrap()).unwrap().unfinished, 0);
}

/// What a request has started ends it: until then it is seen, and has no end on record.
#[tokio::test]
async fn what_goes_on_is_seen_until_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path(), "laptop".parse().unwrap(), Kept::default()).unwrap();
    let unfinished = || verify(Entries::read(directory.path()).unwrap()).unwrap().unfinished;
    for is_dropped in [false, true] {
        let usage = Usage::default();
        let mut visit = Visit::begin(&usage, Some(&ledger), &[], &request("shell.start", ""));
        visit.allowed(PolicyDecision::Allowed).await.unwrap();
        let lasting = visit.lasts();
        lasting.note("command_id", "cmd_1");
        if !is_dropped {
            visit.ended(&Ok(RawJson::empty())).await;
        }
        drop(visit);
        let seen = usage.seen().running;
        assert_eq!((seen.len(), &seen[0].summary["command_id"]), (1, &json!("cmd_1")));
        assert_eq!(unfinished(), 1);
        lasting.note("exit_code", 3);
        lasting.ended(None).await;
        assert!(usage.seen().running.is_empty());
        assert_eq!(unfinished(), 0);
    }
    ledger.close().await;
    let entries: Vec<Value> = Entries::read(directory.path()).unwrap().collect::<Result<_, _>>().unwrap();
    let said: Vec<_> =
        entries.iter().map(|entry| (&entry["status"], &entry["summary"]["exit_code"])).collect();
    let (begun, ended) = ((&Value::Null, &Value::Null), (&json!("succeeded"), &json!(3)));
    assert_eq!(said, [begun, ended, begun, ended]);
}
