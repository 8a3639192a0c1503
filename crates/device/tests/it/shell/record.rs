//! What the owner sees of commands: while they go on, and on record.

use device::{
    ledger::{Entries, Verified, verify},
    shell::{Config, OnDisconnect},
};
use protocol::{
    device::RunningRequest,
    relay::{RawJson, RelayErrorCode},
};
use relay::Ask;
use serde_json::{Value, json};
use testkit::within;

use super::support::{BOTH, Kind, Laptop, config, says, started};
use crate::support::{Lent, SOON};

fn entries(laptop: &Laptop) -> Vec<Value> {
    Entries::read(&laptop.path("audit")).unwrap().map(Result::unwrap).collect()
}

fn verified(laptop: &Laptop) -> Verified {
    verify(Entries::read(&laptop.path("audit")).unwrap()).unwrap()
}

/// Waits until everything has its end on record: that of what only looked comes a moment after it was answered.
async fn nothing_is_unfinished(laptop: &Laptop) {
    within(SOON, async {
        while verified(laptop).unfinished > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    })
    .await;
}

fn running(laptop: &Laptop) -> Vec<RunningRequest> {
    laptop.device.usage().seen().running
}

/// The first and the last entry of the request that started this command.
fn of_command(laptop: &Laptop, id: &str) -> (Value, Value) {
    let all = entries(laptop);
    let is_end = |entry: &&Value| entry["method"] == "shell.start" && entry["summary"]["command_id"] == id;
    let end = all.iter().find(is_end).expect("its end is on record").clone();
    let begin = all.iter().find(|entry| entry["id"] == end["id"]).unwrap().clone();
    (begin, end)
}

/// relay-151, relay-154, relay-178: what runs in the background is seen until it has ended, and how it ended is on record.
#[tokio::test]
async fn a_command_in_the_background_is_seen_until_its_end() {
    for kind in BOTH {
        let laptop = Laptop::recording(config(kind)).await;
        let id = laptop.background("read line; exit 4").await;
        let seen = running(&laptop);
        let seen: Vec<_> = seen
            .iter()
            .map(|it| (it.method.as_str(), &it.summary["programs"], &it.summary["command_id"]))
            .collect();
        assert_eq!(seen, [("shell.start", &json!(["read", "exit"]), &json!(id))], "{kind:?}");
        assert_eq!(verified(&laptop).unfinished, 1, "{kind:?}");
        laptop.input(&id, "hello\n", false).await.unwrap();
        laptop.ends(&id).await;
        // An end that was told is on record, and nothing is seen of it any more.
        assert_eq!(running(&laptop), [], "{kind:?}");
        let (begin, end) = of_command(&laptop, &id);
        nothing_is_unfinished(&laptop).await;
        assert!(begin["completed_at"].is_null() && begin["seq"].as_u64() < end["seq"].as_u64());
        assert_eq!(
            (&end["status"], &end["summary"]["exit_code"]),
            (&json!("succeeded"), &json!(4)),
            "{kind:?}"
        );
    }
}

/// relay-154, relay-157: one that is ended by its owner has its end on record before the device has ended.
#[tokio::test]
async fn a_command_that_ends_with_the_device_is_on_record() {
    let laptop = Laptop::recording(config(Kind::Sandboxed)).await;
    let id = laptop.background("sleep 60").await;
    within(SOON, laptop.device.end()).await;
    assert_eq!(verified(&laptop).unfinished, 0);
    let (_, end) = of_command(&laptop, &id);
    assert_eq!((&end["status"], &end["error"]), (&json!("cancelled"), &json!("cancelled")));
    assert_eq!(running(&laptop), []);
}

/// relay-123, relay-154: the same of one in the foreground that outlives its connection.
#[tokio::test]
async fn a_command_that_is_kept_is_seen_until_its_end() {
    for is_closed in [true, false] {
        let config = Config { on_disconnect: OnDisconnect::Keep, ..config(Kind::Local) };
        let mut laptop = Laptop::recording(config).await;
        let mut call = laptop.start(json!({ "command": "echo ready; read line; exit 5" })).await;
        let id = started(&mut call).await;
        says(&mut call, "ready").await;
        let second = Lent::connect(laptop.device.clone()).await;
        let first = std::mem::replace(&mut laptop.lent, second);
        if is_closed {
            first.peer.close("the hub is shutting down");
            assert!(within(SOON, call.outcome()).await.is_err());
        }
        drop(first);
        let seen = running(&laptop);
        assert_eq!((seen.len(), &seen[0].summary["command_id"]), (1, &json!(id)));
        laptop.input(&id, "hello\n", true).await.unwrap();
        laptop.ends(&id).await;
        within(SOON, async {
            while !running(&laptop).is_empty() {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        })
        .await;
        let (_, end) = of_command(&laptop, &id);
        assert_eq!((&end["status"], &end["summary"]["exit_code"]), (&json!("succeeded"), &json!(5)));
        nothing_is_unfinished(&laptop).await;
    }
}

/// relay-14, relay-151, relay-153: also what nobody can be asked is on record.
#[tokio::test]
async fn what_cannot_be_asked_is_on_record() {
    let laptop = Laptop::recording(config(Kind::Local)).await;
    for (method, code) in [
        ("shell.dance", RelayErrorCode::UnknownMethod),
        ("tool.register", RelayErrorCode::InvalidRequest),
        ("file.read", RelayErrorCode::CapabilityUnavailable),
    ] {
        let call = laptop.lent.peer.request(Ask::new(method, RawJson::empty())).await;
        let error = within(SOON, call.outcome()).await.unwrap_err();
        assert_eq!(error.code, code, "{method}");
        let last = entries(&laptop).pop().unwrap();
        assert_eq!(
            (&last["method"], &last["error"], &last["policy_decision"]),
            (&json!(method), &json!(code), &json!("blocked"))
        );
    }
    let families: Vec<_> = entries(&laptop).iter().map(|entry| entry["capability"].clone()).collect();
    assert_eq!(families, [Value::Null, json!("tools"), json!("fileops")]);
    assert_eq!(laptop.device.usage().seen().errors.len(), 3);
}
