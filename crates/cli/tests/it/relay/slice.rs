//! The first slice of the relay from end to end, but for artifacts: a real hub, a real device, and frames in between.

use futures_util::StreamExt;
use protocol::relay::{RawJson, RelayContext, StreamFrame};
use relay::{Ask, Call, Part};
use serde_json::{Value, json};
use testkit::{TestHub, within, within_blocking};

use super::{
    environment, lend,
    plug::{Runtime, commands},
};
use crate::{TOMBOLO, secs};

/// Begins a request of a run, as this call of a tool.
async fn begin(runtime: &Runtime, call: &str, method: &str, params: Value) -> Call {
    let context = RelayContext {
        run_id: Some("run-1".into()),
        tool_call_id: Some(call.into()),
        ..RelayContext::default()
    };
    runtime.peer.request(Ask::new(method, RawJson::from_value(&params)).context(context)).await
}

/// The same to its end.
async fn done(runtime: &Runtime, call: &str, method: &str, params: Value) -> Value {
    let call = begin(runtime, call, method, params).await;
    within(secs(20), call.outcome()).await.unwrap().read().unwrap()
}

/// What a command says next.
async fn streamed(call: &mut Call) -> StreamFrame {
    match within(secs(20), call.next()).await {
        Some(Part::Stream(frame)) => frame,
        other => panic!("{other:?}"),
    }
}

/// What ended, of the calls of tools: the same in both records.
fn ended(entries: &[Value]) -> Vec<[String; 4]> {
    let names = ["tool_call_id", "run_id", "method", "status"];
    let ended = entries.iter().filter(|entry| names.iter().all(|name| entry[name].is_string()));
    let mut ended: Vec<_> =
        ended.map(|entry| names.map(|name| entry[name].as_str().unwrap().to_owned())).collect();
    ended.sort();
    ended
}

/// relay-171: files are read, listed and looked at; a command is started, heard and cancelled; tools are listed and called.
/// relay-38: the records of the hub and of the device both say for which run and which call of a tool each of it was.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_slice_works_from_end_to_end() {
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", "http://127.0.0.1:9", None).await;
    let (device, _tools) = lend(&hub, "allow");
    let runtime = Runtime::connect(&hub, &environment(&hub)).await;
    let file = json!({ "root_id": "main", "path": "a.txt" });
    let read = done(&runtime, "1", "file.read", file.clone()).await;
    assert_eq!(read["content"], "from the device");
    let list = done(&runtime, "2", "file.list", json!({ "root_id": "main", "path": "" })).await;
    assert_eq!((&list["entries"][0]["name"], &list["entries"][1]), (&json!("a.txt"), &Value::Null));
    let stat = done(&runtime, "3", "file.stat", file).await;
    assert_eq!((&stat["size_bytes"], &stat["is_file"]), (&json!(15), &json!(true)));

    let nap = fastrand::u32(1_000_000..);
    let line = format!("echo out; read line; echo err >&2; sleep {nap}");
    let mut call = begin(&runtime, "4", "shell.start", json!({ "command": line })).await;
    let status: Value = streamed(&mut call).await.data.read().unwrap();
    let out = streamed(&mut call).await;
    assert_eq!((out.event.as_str(), out.data), ("stdout", RawJson::from_value(&"out\n")));
    let input = json!({ "command_id": status["command_id"], "data": "go on\n" });
    done(&runtime, "5", "shell.input", input).await;
    let err = streamed(&mut call).await;
    assert_eq!((err.event.as_str(), err.data), ("stderr", RawJson::from_value(&"err\n")));
    within_blocking(secs(20), || commands(nap) > 0);
    drop(call);
    within_blocking(secs(20), || commands(nap) == 0);

    let tools = done(&runtime, "6", "tool.list", json!({})).await;
    assert_eq!(tools["tools"][0]["name"], "shout");
    let called =
        done(&runtime, "7", "tool.call", json!({ "name": "shout", "arguments": { "a": "hello" } })).await;
    assert!(called.to_string().contains("HELLO"), "{called}");

    let by_device = || {
        let record = device.directory.path().join("data/device/laptop/audit/audit.jsonl");
        let lines = std::fs::read_to_string(record).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let by_hub = || {
        let page: Value = serde_json::from_str(&super::typed(&hub, &["audit", "list", "--json"])).unwrap();
        page["items"].as_array().unwrap().clone()
    };
    let expected = [
        ["1", "run-1", "file.read", "succeeded"],
        ["2", "run-1", "file.list", "succeeded"],
        ["3", "run-1", "file.stat", "succeeded"],
        ["4", "run-1", "shell.start", "cancelled"],
        ["5", "run-1", "shell.input", "succeeded"],
        ["6", "run-1", "tool.list", "succeeded"],
        ["7", "run-1", "tool.call", "succeeded"],
    ];
    within_blocking(secs(20), || ended(&by_device()).len() == 7 && ended(&by_hub()).len() == 7);
    assert_eq!(ended(&by_device()), expected);
    assert_eq!(ended(&by_hub()), expected);
}
