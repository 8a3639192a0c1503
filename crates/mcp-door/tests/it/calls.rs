//! What the tools tell a model.

use protocol::relay::RootMode;
use rmcp::model::ProtocolVersion;
use serde_json::json;

use crate::stage::{ALL, Client, Stage};

async fn stage() -> (Stage, Client) {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let client = stage.client(ProtocolVersion::V_2026_07_28).await;
    (stage, client)
}

/// relay-111: a file is read, as far as a model can well read it.
#[tokio::test]
async fn a_file_is_read() {
    let (stage, client) = stage().await;
    let lines: String = (1..=2500).map(|number| format!("line {number}\n")).collect();
    stage.device.put("long.txt", lines);
    stage.device.put("empty", "");
    stage.device.put("binary", [0xff, 0x00]);
    stage.device.put("dot.png", [1, 2, 3]);
    let all = client.text("read_file", json!({ "path": "long.txt" })).await;
    assert!(all.starts_with("line 1\n") && all.contains("line 2000\n") && !all.contains("line 2001\n"));
    assert!(
        all.ends_with("[lines 1 to 2000 of 2500; read on with offset 2001]"),
        "{}",
        &all[all.len() - 80..]
    );
    let rest = client.text("read_file", json!({ "path": "long.txt", "offset": 2499 })).await;
    assert_eq!(rest, "line 2499\nline 2500\n");
    let some = client.text("read_file", json!({ "path": "long.txt", "offset": 2, "limit": 1 })).await;
    assert_eq!(some, "line 2\n[lines 2 to 2 of 2500; read on with offset 3]");
    assert_eq!(client.text("read_file", json!({ "path": "empty" })).await, "[the file is empty]");
    let picture = client.call("read_file", json!({ "path": "dot.png" })).await;
    assert_eq!(picture.content[0].as_image().unwrap().mime_type, "image/png");
    let binary = client.failure("read_file", json!({ "path": "binary" })).await;
    assert!(binary.starts_with("invalid_request"), "{binary}");
}

/// relay-112: what goes wrong is told with its code, and is no failure of the protocol.
#[tokio::test]
async fn failures_are_told() {
    let (_stage, client) = stage().await;
    let missing = client.call("read_file", json!({ "path": "nothing" })).await;
    assert_eq!(missing.structured_content.unwrap()["code"], "not_found");
    let outside = client.failure("read_file", json!({ "path": "/etc/passwd" })).await;
    assert!(outside.starts_with("permission_denied"), "{outside}");
    let blocked = client.failure("run_command", json!({ "command": "refused" })).await;
    assert_eq!(blocked, "policy_blocked: the owner said no");
    let wrong = client.failure("read_file", json!({ "offset": 1 })).await;
    assert!(wrong.starts_with("invalid_request") && wrong.contains("path"), "{wrong}");
}

/// A file is edited where the text is, exactly and once, unless somebody else has changed it meanwhile.
#[tokio::test]
async fn a_file_is_edited() {
    let (stage, client) = stage().await;
    stage.device.put("a.txt", "one two one\n");
    let edit = |old: &str, new: &str| json!({ "path": "a.txt", "old_text": old, "new_text": new });
    client.text("edit_file", edit("two", "2")).await;
    assert_eq!(stage.device.text("a.txt"), "one 2 one\n");
    assert!(client.failure("edit_file", edit("one", "1")).await.contains("2 times"));
    assert!(client.failure("edit_file", edit("three", "3")).await.contains("does not occur in"));
    assert!(client.failure("edit_file", edit("", "3")).await.contains("empty"));
    assert_eq!(stage.device.text("a.txt"), "one 2 one\n");
    let mut all = edit("one", "1");
    all["replace_all"] = true.into();
    assert!(client.text("edit_file", all).await.contains("2 places"));
    assert_eq!(stage.device.text("a.txt"), "1 2 1\n");
    // What it was when it was read goes with what is written.
    let (_, written, _) = stage.device.asked().pop().unwrap();
    assert_eq!(
        (&written["create"], written["if_match"]["sha256"].as_str().unwrap().len()),
        (&json!("existing"), 64)
    );
}

/// Files are written, listed, looked for, moved and deleted.
#[tokio::test]
async fn files_are_worked_with() {
    let (stage, client) = stage().await;
    assert_eq!(
        client.text("write_file", json!({ "path": "a.txt", "content": "one\ntwo\n" })).await,
        "wrote 8 bytes to a.txt"
    );
    assert_eq!(client.text("list_directory", json!({})).await, "a.txt (8 bytes)");
    assert_eq!(client.text("list_directory", json!({ "path": "/" })).await, "workspace/");
    let tree = client.text("list_directory", json!({ "path": "/", "recursive": true })).await;
    assert_eq!(tree, "/workspace/main/a.txt (8 bytes)");
    assert_eq!(
        client.text("search_files", json!({ "pattern": "two" })).await,
        "/workspace/main/a.txt-1-one\n/workspace/main/a.txt:2:two\n"
    );
    assert_eq!(client.text("search_files", json!({ "pattern": "nothing" })).await, "[no matches]");
    assert!(
        client
            .text("search_files", json!({ "pattern": "more" }))
            .await
            .ends_with("[more matches omitted; narrow the search]\n")
    );
    assert!(client.text("file_info", json!({ "path": "a.txt" })).await.contains("a file of 8 bytes"));
    client.text("copy_path", json!({ "from": "a.txt", "to": "b.txt" })).await;
    client.text("move_path", json!({ "from": "b.txt", "to": "c.txt" })).await;
    assert_eq!(stage.device.text("c.txt"), "one\ntwo\n");
    client.text("make_directory", json!({ "path": "new" })).await;
    client.text("delete_path", json!({ "path": "c.txt" })).await;
    assert!(client.failure("delete_path", json!({ "path": "c.txt" })).await.starts_with("not_found"));
}

/// relay-76, relay-81, relay-112: what a command wrote, in order, and how it ended; too much is cut in the middle.
#[tokio::test]
async fn a_command_is_run() {
    let (stage, client) = stage().await;
    let greeted = client
        .call("run_command", json!({ "command": "greet", "stdin": "x", "cwd": "/workspace/main/sub" }))
        .await;
    assert_eq!(crate::stage::text(&greeted), "hello\ncareful\n[exit code 3 after 7 ms]");
    // Many agents show their model only what is structured, so it has the output as well.
    let structured =
        json!({ "output": "hello\ncareful\n", "exit_code": 3, "duration_ms": 7, "is_output_cut": false });
    assert_eq!(greeted.structured_content, Some(structured));
    let (_, asked, _) =
        stage.device.asked().into_iter().find(|(method, ..)| method == "shell.start").unwrap();
    assert_eq!((&asked["cwd"], &asked["timeout_ms"]), (&json!("/workspace/main/sub"), &json!(120_000)));
    let much = client.text("run_command", json!({ "command": "much" })).await;
    assert!(
        much.len() < 60_000 && much.contains("bytes omitted") && much.contains("output cut"),
        "{}",
        much.len()
    );
    assert!(much.contains(&format!("{:099}\n", 0)) && much.contains(&format!("{:099}\n", 999)));
    let late = client.call("run_command", json!({ "command": "late" })).await;
    assert_eq!((late.is_error, &late.structured_content), (Some(true), &None));
    let late = crate::stage::text(&late);
    assert!(late.starts_with("so far\n") && late.contains("timeout"), "{late}");
    let outside = client.failure("run_command", json!({ "command": "greet", "cwd": "/etc" })).await;
    assert!(outside.starts_with("permission_denied"), "{outside}");
}

/// relay-37: a client that says for which call of a tool it asks is passed on.
#[tokio::test]
async fn the_call_of_the_tool_is_passed_on() {
    let (stage, client) = stage().await;
    let mut params = crate::stage::params("file_info", json!({ "path": "a" }));
    let mut meta = rmcp::model::RequestMetaObject::new();
    meta.insert("claudecode/toolUseId".into(), json!("toolu_1"));
    params.meta = Some(meta);
    let _ = crate::stage::within(client.service.call_tool(params)).await.unwrap();
    let (_, _, context) = stage.device.asked().pop().unwrap();
    assert_eq!(context.unwrap().tool_call_id.unwrap(), "toolu_1");
}
