use serde_json::json;

use super::*;

#[track_caller]
fn check(params: &Value, root: Option<&str>, path: Option<&str>, summary: &Value) {
    let about = RequestSummary::from_params(&RawJson::from_value(params));
    assert_eq!(about.root_id.as_ref().map(RootId::as_str), root);
    assert_eq!(about.path.as_ref().map(RelayPath::as_str), path);
    assert_eq!(Value::from(about.summary), *summary);
}

/// relay-153, relay-154
#[test]
fn a_file_is_named_and_its_content_counted() {
    let params = json!({ "root_id": "main", "path": "a/b", "content": "secret", "encoding": "utf-8" });
    check(&params, Some("main"), Some("a/b"), &json!({ "content_bytes": 8 }));
}

/// relay-154: "contents and secrets are not stored".
#[test]
fn a_command_is_its_program_and_no_argument_is_kept() {
    let argv = json!({ "argv": ["curl", "-H", "token: secret"], "cwd": "/workspace/main", "env": { "KEY": "secret" } });
    check(&argv, None, None, &json!({ "program": "curl", "argument_count": 2, "cwd": "/workspace/main" }));
    for (line, program) in [
        ("ls -l secret", Some("ls")),
        ("KEY=secret make", Some("make")),
        ("KEY='secret with space' make", None),
        ("KEY=\"a secret\" make", None),
        ("$(secret)", None),
        ("", None),
    ] {
        let about = RequestSummary::from_params(&RawJson::from_value(&json!({ "command": line })));
        assert_eq!(about.summary.get("program").and_then(Value::as_str), program, "{line}");
        assert!(!Value::from(about.summary).to_string().contains("secret"), "{line}");
    }
}

#[test]
fn a_tool_is_named_and_its_arguments_counted() {
    let call = json!({ "name": "open", "arguments": { "a": "secret" }, "call_id": "c" });
    check(&call, None, None, &json!({ "tool": "open", "arguments_bytes": 14 }));
    check(
        &json!({ "command_id": "c\u{7}1", "signal": 9 }),
        None,
        None,
        &json!({ "command_id": "c1", "signal": "9" }),
    );
}

#[test]
fn what_makes_no_sense_is_left_out() {
    check(&json!([1, 2]), None, None, &json!({}));
    check(
        &json!({ "root_id": 7, "path": "/etc/passwd", "argv": "x", "name": "no name" }),
        None,
        None,
        &json!({}),
    );
}
