use serde_json::json;

use super::*;

fn target(method: &str, params: &Value) -> Target {
    Target::of(MethodInfo::find(method).unwrap(), &RawJson::from_value(params)).unwrap()
}

/// relay-152, relay-154: the hub records exactly the summary that the device records, whatever the method.
#[test]
fn the_summary_is_that_of_the_device() {
    for (method, params) in [
        (
            "shell.start",
            json!({ "command": "ls -la X; id; whoami", "cwd": "/workspace/main", "background": true }),
        ),
        ("shell.start", json!({ "command": "API_KEY=\"sk live hunter2\" curl x" })),
        (
            "shell.start",
            json!({ "argv": ["make", "hunter2"], "env": { "KEY": "hunter2" }, "name": "hunter2" }),
        ),
        ("shell.input", json!({ "command_id": "c\u{7}", "data": "hunter2", "call_id": "hunter2" })),
        ("shell.signal", json!({ "command_id": "c", "signal": "hunter2" })),
        ("file.write", json!({ "root_id": "a", "path": "b", "content": "hunter2", "command": "hunter2" })),
        ("file.read", json!({ "root_id": "a", "path": "b", "offset": 3, "length": 4 })),
        (
            "tool.call",
            json!({ "name": "open", "call_id": "c", "arguments": { "a": "hunter2" }, "argv": ["hunter2"] }),
        ),
    ] {
        let target = target(method, &params);
        let device = RequestSummary::from_request(method, &RawJson::from_value(&params));
        assert_eq!(target.summary, device.summary, "{method}");
        let recorded = format!("{} {:?}", json!(target.summary), target.label);
        assert!(!recorded.contains("hunter") && !recorded.contains("live"), "{recorded}");
    }
    let label = |params: &Value| target("shell.start", params).label;
    assert_eq!(
        label(&json!({ "command": "ls -la X; id; whoami" })).as_deref(),
        Some("3 commands: ls, id, whoami")
    );
    assert_eq!(label(&json!({ "command": "A='b c' make" })).as_deref(), Some("a shell command"));
}

/// relay-153: where it is about a file, the path as a model sees it, if it stays below its root.
#[test]
fn a_path_is_that_of_the_root() {
    let allowed: Allowed = Allowed {
        roots: serde_json::from_value(json!([{ "root_id": "a", "virtual_path": "/w/a", "mode": "ro" }]))
            .unwrap(),
        ..Allowed::default()
    };
    let check = |method: &str, path: &str| {
        let mut target = target(method, &json!({ "root_id": "a", "path": path, "content": "x" }));
        let checked = target.check(MethodInfo::find(method).unwrap(), &allowed).map_err(|error| error.code);
        (checked, target.virtual_path.map(|path| path.to_string()))
    };
    assert_eq!(check("file.read", "b/../c"), (Ok(()), Some("/w/a/c".into())));
    assert_eq!(check("file.read", "../c"), (Err(RelayErrorCode::PermissionDenied), None));
    assert_eq!(check("file.write", "c"), (Err(RelayErrorCode::PermissionDenied), Some("/w/a/c".into())));
}
