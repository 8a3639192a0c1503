//! Clients of different revisions, at one door.

use protocol::relay::{Family, RootMode};
use relay::Environment;
use rmcp::{
    model::{CallToolRequest, ClientRequest, ProtocolVersion, ServerNotification, SubscriptionFilter},
    service::PeerRequestOptions,
};
use serde_json::json;

use crate::stage::{ALL, Stage, Told, binding, params, within};

const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2026_07_28,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_03_26,
];

fn tool(name: &str) -> serde_json::Value {
    json!({
        "name": name, "description": "A tool of the device", "risk": "low", "approval_policy": "allow",
        "input_schema": { "type": "object", "properties": { "x": { "type": "integer" } } },
    })
}

/// Clients of both current revisions, and of older ones, use the same endpoint, and have what the environment has.
#[tokio::test]
async fn all_revisions_are_served_at_one_door() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    stage.device.put("a.txt", "one\n");
    for version in REVISIONS {
        let client = stage.client(version.clone()).await;
        let info = client.service.peer_info().unwrap();
        assert_eq!(info.protocol_version, version);
        assert!(info.instructions.as_ref().unwrap().contains("`/workspace/main` (demo, read and write)"));
        assert!(client.names().await.contains(&"read_file".to_owned()));
        assert_eq!(client.text("read_file", json!({ "path": "/workspace/main/a.txt" })).await, "one\n");
        within(client.service.cancel()).await.unwrap();
    }
}

/// relay-33, relay-127: only what is accepted and granted is there.
#[tokio::test]
async fn only_what_is_granted_is_there() {
    const READING: [&str; 4] = ["read_file", "list_directory", "search_files", "file_info"];
    const WRITING: [&str; 6] =
        ["write_file", "edit_file", "make_directory", "delete_path", "move_path", "copy_path"];
    for (families, mode, expected) in [
        (vec![], RootMode::Rw, vec![]),
        (vec![Family::Fileops], RootMode::Ro, READING.to_vec()),
        (vec![Family::Fileops], RootMode::Rw, [READING.as_slice(), &WRITING].concat()),
        (vec![Family::Shell], RootMode::Rw, vec!["run_command"]),
        (vec![Family::Tools], RootMode::Rw, vec!["open"]),
    ] {
        let stage = Stage::new(&families, mode).await;
        stage.device.set_tools(vec![tool("open")]);
        let client = stage.client(ProtocolVersion::V_2026_07_28).await;
        assert_eq!(client.names().await, expected, "{families:?} {mode:?}");
        // What is not there cannot be called either.
        for name in ["read_file", "write_file", "run_command", "open"] {
            if !expected.contains(&name) {
                let called = within(
                    client
                        .service
                        .call_tool(params(name, json!({ "path": "a", "content": "", "command": "greet" }))),
                )
                .await;
                assert!(called.is_err(), "{name}");
            }
        }
    }
}

/// relay-88, relay-90: the device's own tools are called by their names; one that is called as one of ours has another name.
#[tokio::test]
async fn the_tools_of_the_device_are_there() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    stage.device.set_tools(vec![tool("open"), tool("read_file"), tool("device_read_file")]);
    let client = stage.client(ProtocolVersion::V_2025_11_25).await;
    let names = client.names().await;
    assert_eq!(names[names.len() - 3..], ["device_read_file", "open", "device_device_read_file"]);
    assert_eq!(client.text("open", json!({ "x": 1 })).await, r#""open" {"x":1}"#);
    assert_eq!(client.text("device_device_read_file", json!({})).await, r#""read_file" {}"#);
    let wrong = client.failure("open", json!({ "x": "no" })).await;
    assert!(wrong.starts_with("invalid_request") && wrong.contains("/x"), "{wrong}");
}

/// relay-86, relay-120: clients are told when the tools change, and when the device comes back as another environment.
#[tokio::test]
async fn clients_are_told_that_the_tools_changed() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let mut older = stage.client(ProtocolVersion::V_2025_11_25).await;
    let newer = stage.client(ProtocolVersion::V_2026_07_28).await;
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut told = within(newer.service.listen(filter)).await.unwrap();
    assert_eq!(older.names().await.len(), 11);
    let register = protocol::relay::EventFrame {
        event: "tool.registered".into(),
        payload: protocol::relay::RawJson::from_value(&json!({ "tools": [tool("open")] })),
    };
    let environment = stage.environments.borrow().clone();
    environment.heard(&register);
    assert_eq!(within(older.told.recv()).await, Some(Told::ToolsChanged));
    let notification = within(told.next()).await.unwrap();
    assert!(matches!(notification, Some(ServerNotification::ToolListChangedNotification(_))));
    assert!(older.names().await.contains(&"open".to_owned()));
    let less = Environment::new(binding(&[Family::Shell], RootMode::Rw), stage.device.clone());
    stage.environments.send_replace(less);
    assert_eq!(within(older.told.recv()).await, Some(Told::ToolsChanged));
    assert_eq!(older.names().await, ["run_command"]);
    assert_eq!(newer.names().await, ["run_command"]);
}

/// relay-54: who cancels a call, or leaves, cancels what it does on the device. relay-46: what a command writes is told.
#[tokio::test]
async fn who_cancels_a_call_cancels_it_on_the_device() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    for version in [ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25] {
        let mut client = stage.client(version).await;
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(params(
            "run_command",
            json!({ "command": "slow" }),
        )));
        let handle =
            client.service.send_cancellable_request(call, PeerRequestOptions::no_options()).await.unwrap();
        within(stage.device.runs(1)).await;
        assert_eq!(within(client.told.recv()).await, Some(Told::Progress("working\n".into())));
        within(handle.cancel(Some("enough".into()))).await.unwrap();
        within(stage.device.runs(0)).await;
    }
}

/// relay-112: when the environment ends a call ends too, with an error that can be read.
#[tokio::test]
async fn a_call_ends_with_its_environment() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let client = stage.client(ProtocolVersion::V_2025_11_25).await;
    let call = client.service.call_tool(params("run_command", json!({ "command": "slow" })));
    let ends = async {
        stage.device.runs(1).await;
        stage.door.close().await;
    };
    let (called, ()) = within(Box::pin(async { tokio::join!(call, ends) })).await;
    let called = called.unwrap();
    assert_eq!(called.is_error, Some(true));
    let told = crate::stage::text(&called);
    assert!(told.starts_with("relay_disconnected"), "{told}");
    within(stage.device.runs(0)).await;
    let answer = reqwest::Client::new().post(&stage.url).body("{}").send().await.unwrap();
    assert_eq!(answer.status(), 503);
}
