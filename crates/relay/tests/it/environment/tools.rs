//! The tools of an environment.

use protocol::relay::{EventFrame, Family, RelayErrorCode, RelayEvent, ToolName, tool};
use relay::{
    environment::{Error, Toolset},
    tool_schema::SCHEMA_DEPTH_MAX,
};
use serde_json::{Map, Value, json};

use super::device::{Lent, lend};
use crate::support::within;

fn open() -> Value {
    json!({
        "name": "open", "description": "Opens a file", "risk": "low", "approval_policy": "allow",
        "input_schema": {
            "type": "object", "required": ["path"],
            "properties": { "path": { "type": "string" }, "at": { "type": "object", "properties": { "line": { "type": "integer" } } } },
        },
    })
}

fn named(name: &str, input_schema: Value) -> Value {
    let mut tool = open();
    tool["name"] = name.into();
    tool["input_schema"] = input_schema;
    tool
}

async fn names(lent: &Lent) -> Vec<String> {
    let tools = within(lent.environment.tools().list()).await.unwrap();
    tools.into_iter().map(|tool| tool.name.to_string()).collect()
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// relay-85, relay-113, relay-165: a tool is called with what it wants.
#[tokio::test]
async fn a_tool_is_called() {
    let lent = lend(&[Family::Tools]).await;
    lent.memory.tools.lock().push(open());
    let name: ToolName = "open".parse().unwrap();
    let tools = lent.environment.tools();
    let result = within(tools.call(&name, arguments(json!({ "path": "a" })))).await.unwrap();
    assert_eq!(result.content, tool::ToolContent::Text(r#"open {"path":"a"}"#.into()));
    assert_eq!(lent.memory.methods(), ["tool.list", "tool.call"]);
    let missing = within(tools.call(&"other".parse().unwrap(), Map::new())).await.unwrap_err();
    assert_eq!(missing.code(), RelayErrorCode::NotFound);
}

/// relay-87: arguments that are not as the tool wants them are refused here, by where they are wrong, not by what they are.
#[tokio::test]
async fn wrong_arguments_are_refused_before_they_are_sent() {
    let lent = lend(&[Family::Tools]).await;
    lent.memory.tools.lock().push(open());
    let name: ToolName = "open".parse().unwrap();
    for (said, at) in [
        (json!({}), ""),
        (json!({ "path": 123_456 }), "/path"),
        (json!({ "path": "a", "at": { "line": "secret" } }), "/at/line"),
    ] {
        let error = within(lent.environment.tools().call(&name, arguments(said))).await.unwrap_err();
        let Error::Arguments { error, .. } = error else { panic!("{error}") };
        assert_eq!((error.code, &error.details["pointer"]), (RelayErrorCode::InvalidRequest, &json!(at)));
        let said = error.to_string();
        assert!(!said.contains("secret") && !said.contains("123456"), "{said}");
    }
    assert_eq!(lent.memory.methods(), ["tool.list"]);
}

/// relay-86: the toolset follows what the device tells.
#[tokio::test]
async fn the_toolset_follows_the_device() {
    let lent = lend(&[Family::Tools]).await;
    assert_eq!(names(&lent).await, [""; 0]);
    let mut changes = lent.environment.tools().changes();
    let tell = async |event: RelayEvent| {
        let EventFrame { event, payload } = EventFrame::from(&event);
        lent.device.event(event, payload).await.unwrap();
    };
    let list = tool::ToolList { tools: vec![protocol::relay::RawJson::from_value(&open())] };
    tell(RelayEvent::ToolRegistered(list)).await;
    within(changes.changed()).await.unwrap();
    assert_eq!(names(&lent).await, ["open"]);
    tell(RelayEvent::ToolUnregistered(tool::UnregisterTools { names: vec!["open".parse().unwrap()] })).await;
    within(changes.changed()).await.unwrap();
    assert_eq!(names(&lent).await, [""; 0]);
    // Only the first time was the device asked.
    assert_eq!(lent.memory.methods(), ["tool.list"]);
}

/// relay-87, relay-88: a tool that makes no sense is left out, as is one whose schema is beyond measure or elsewhere.
#[tokio::test]
async fn a_tool_that_makes_no_sense_is_left_out() {
    let lent = lend(&[Family::Tools]).await;
    let mut deep = json!({});
    for _ in 0..SCHEMA_DEPTH_MAX {
        deep = json!({ "not": deep });
    }
    lent.memory.tools.lock().extend([
        named("bad name", json!({})),
        named("remote", json!({ "$ref": "http://127.0.0.1:1/schema.json" })),
        named("file", json!({ "$ref": "file:///etc/passwd" })),
        named("deep", deep),
        named("long", json!({ "description": "x".repeat(300_000) })),
        named("wrong", json!({ "type": "nothing" })),
        named("plain", json!({})),
        open(),
        open(),
    ]);
    assert_eq!(names(&lent).await, ["open", "plain"]);
}
