//! How tools are described, and what comes of tools of the device.

use protocol::relay::RootMode;
use rmcp::model::{ContentBlock, ProtocolVersion, Tool};
use serde_json::{Value, json};

use crate::stage::{ALL, Stage, Told, within};

async fn tools(stage: &Stage) -> Vec<Tool> {
    let client = stage.client(ProtocolVersion::V_2025_11_25).await;
    within(client.service.list_all_tools()).await.unwrap()
}

/// Whether any schema below `value` has a word that some providers of models refuse.
fn refused(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => {
            let of_rust = |format: &str| format.starts_with("int") || format.starts_with("uint");
            let format = fields.get("format").and_then(Value::as_str).filter(|format| of_rust(format));
            let default = fields.get("default").filter(|default| default.is_null());
            if format.is_some() || default.is_some() || fields.get("type").is_some_and(Value::is_array) {
                return Some(value.to_string());
            }
            fields.values().find_map(refused)
        }
        Value::Array(values) => values.iter().find_map(refused),
        _ => None,
    }
}

/// Every provider of models takes the schemas of our tools: no `null` among types and defaults, and no formats of Rust.
#[tokio::test]
async fn every_provider_takes_our_schemas() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let tools = tools(&stage).await;
    assert_eq!(tools.len(), 11);
    for tool in tools {
        let schema = json!({ "input": *tool.input_schema, "output": tool.output_schema });
        assert_eq!(refused(&schema), None, "{}", tool.name);
    }
}

/// The result of a command has a schema, which has the exit code.
#[tokio::test]
async fn the_result_of_a_command_has_a_schema() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let tools = tools(&stage).await;
    let command = tools.iter().find(|tool| tool.name == "run_command").unwrap();
    let schema = Value::Object((**command.output_schema.as_ref().unwrap()).clone());
    assert_eq!(
        (&schema["type"], &schema["properties"]["exit_code"]["type"]),
        (&json!("object"), &json!("integer"))
    );
    assert_eq!(schema["required"], json!(["output", "duration_ms", "is_output_cut"]));
    // Clients check structured content against the schema, so a failure has none.
    let client = stage.client(ProtocolVersion::V_2025_11_25).await;
    let failed = client.call("run_command", json!({ "command": "refused" })).await;
    assert_eq!((failed.is_error, failed.structured_content), (Some(true), None));
}

/// relay-90: what the device says of its tools is passed on: hints, and the schema of results.
#[tokio::test]
async fn the_hints_and_schemas_of_the_device_are_passed_on() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    stage.device.set_tools(vec![json!({
        "name": "open", "title": "Open", "description": "Opens", "risk": "low", "approval_policy": "allow",
        "input_schema": { "type": "object" }, "output_schema": output,
        "annotations": { "read_only": true, "destructive": false, "idempotent": true, "open_world": false },
    })]);
    let tools = tools(&stage).await;
    let open = tools.iter().find(|tool| tool.name == "open").unwrap();
    assert_eq!(json!(open.output_schema), output);
    let hints = json!({
        "title": "Open", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
    });
    assert_eq!(json!(open.annotations), hints);
}

/// Audio, resources and links are what they were, and the progress of a tool is told to who asked.
#[tokio::test]
async fn content_and_progress_of_a_tool_are_passed_on() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    stage.device.set_tools(vec![json!({
        "name": "rich", "description": "Rich", "risk": "low", "approval_policy": "allow",
        "input_schema": { "type": "object" },
    })]);
    let mut client = stage.client(ProtocolVersion::V_2025_11_25).await;
    let result = client.call("rich", json!({})).await;
    let [
        ContentBlock::Audio(audio),
        ContentBlock::Resource(_),
        ContentBlock::ResourceLink(link),
        ContentBlock::Text(other),
    ] = &result.content[..]
    else {
        panic!("{result:?}")
    };
    assert_eq!(
        (audio.data.as_str(), audio.mime_type.as_str(), link.uri.as_str()),
        ("AQ==", "audio/wav", "file:///a")
    );
    assert_eq!(other.text, r#"{"type":"hologram"}"#);
    for told in ["half", "all"] {
        assert_eq!(within(client.told.recv()).await, Some(Told::Progress(told.into())));
    }
}
