mod random_commands;

use serde_json::json;

use super::*;

#[track_caller]
fn check(method: &str, params: &Value, expected: &Value) {
    let about = RequestSummary::from_request(method, &RawJson::from_value(params));
    assert_eq!(Value::from(about.summary), *expected);
}

fn summary_of(params: &Value) -> Map<String, Value> {
    RequestSummary::from_request("shell.start", &RawJson::from_value(params)).summary
}

/// relay-153, relay-154
#[test]
fn a_file_is_named_and_its_content_counted() {
    let params = json!({ "root_id": "main", "path": "a/b", "content": "secret", "encoding": "utf-8" });
    check("file.write", &params, &json!({ "content_bytes": 6 }));
    let about = RequestSummary::from_request("file.write", &RawJson::from_value(&params));
    assert_eq!(about.root_id.as_ref().map(RootId::as_str), Some("main"));
    assert_eq!(about.path.as_ref().map(RelayPath::as_str), Some("a/b"));
    let params = json!({ "root_id": "main", "path": "a", "offset": 1, "length": 2, "recursive": true });
    check("file.read", &params, &json!({ "offset": 1, "length": 2, "recursive": true }));
}

/// relay-154: "contents and secrets are not stored".
#[test]
fn a_command_is_its_programs_and_no_argument_is_kept() {
    let params = json!({ "argv": ["curl", "-H", "token: x"], "cwd": "/workspace/main", "env": { "KEY": "x" }, "background": true });
    let expected = json!({
        "argument_count": 2, "background": true, "command_count": 1, "cwd": "/workspace/main", "programs": ["curl"],
    });
    check("shell.start", &params, &expected);
    let line = "ls -la X; id; ./deploy; ls";
    let expected =
        json!({ "command_count": 4, "line_bytes": 26, "programs": ["ls", "id"], "unnamed_count": 1 });
    check("shell.start", &json!({ "command": line }), &expected);
    check("shell.start", &json!({ "command": "KEY=\"a b\" make" }), &json!({ "line_bytes": 14 }));
    check("shell.start", &json!({ "command": "ls", "argv": ["ls"] }), &json!({}));
}

/// relay-177: the subject names every command, so that what follows the first is not hidden.
#[test]
fn the_subject_of_a_compound_command_names_all_programs() {
    let check = |params: Value, expected: &str| {
        assert_eq!(RequestSummary::subject(&summary_of(&params)).as_deref(), Some(expected), "{params}");
    };
    let line = |line: &str| json!({ "command": line });
    check(line("ls -la X"), "ls");
    check(line("ls -la X; id; whoami"), "3 commands: ls, id, whoami");
    check(line("A=1; make && make install"), "3 commands: make");
    check(line("cd x && ./deploy | ./send"), "3 commands: cd, 2 other programs");
    check(line("make && ./deploy"), "2 commands: make, 1 other program");
    check(line("./deploy; ./send"), "2 commands");
    check(line("./deploy"), "a program");
    check(line("A=b"), "a shell command");
    check(line("if true; then rm x; fi"), "a shell command");
    check(
        line("cd a;cat b;cp c;du d;df e;id f;ln g;ls h;mv i;ps j"),
        "10 commands: cd, cat, cp, du, df, id, ln, ls, 2 other programs",
    );
    check(json!({ "argv": ["/usr/bin/git", "status"] }), "git");
    check(json!({ "argv": ["/tmp/git", "status"] }), "a program");
    let recorded_before = json!({ "program": "make", "line_bytes": 4 });
    assert_eq!(RequestSummary::subject(recorded_before.as_object().unwrap()).as_deref(), Some("make"));
    assert_eq!(RequestSummary::subject(&Map::new()), None);
}

/// relay-154: forms that once recorded a part of their secret.
#[test]
fn no_word_of_a_doubtful_line_is_kept() {
    let lines = [
        r#"API_KEY="sk live hunter2" curl x"#,
        "PASSWORD='correct horse battery' mysql",
        r"API_KEY=sk\ live\ hunter2 curl x",
        r#"TOKEN=$(printf "s3cr3t tok") true"#,
        r#"A="x y=z hunter4" true"#,
        r#"(PASS="a hunter11" env)"#,
        "<<<hunter5 cat",
        "echo;hunter10;x",
        "mysql:-phunter13",
    ];
    let all = lines.iter().map(|line| json!({ "command": line }));
    for params in all.chain([json!({ "argv": ["sh -c \"PASS=hunter14\""] })]) {
        let summary = summary_of(&params);
        let recorded = format!("{} {:?}", json!(summary), RequestSummary::subject(&summary));
        for secret in ["live", "horse", "correct", "battery", "s3cr3t", "hunter", "PASS"] {
            assert!(!recorded.contains(secret), "{params}: {recorded}");
        }
    }
}

#[test]
fn a_tool_is_named_and_its_arguments_counted() {
    let call = json!({ "name": "open", "arguments": { "a": "secret" }, "call_id": "c" });
    check("tool.call", &call, &json!({ "tool": "open", "call_id": "c", "arguments_bytes": 14 }));
    let signal = |signal: Value| json!({ "command_id": "c\u{7}1", "signal": signal });
    check("shell.signal", &signal(json!(9)), &json!({ "command_id": "c1", "signal": "9" }));
    check("shell.signal", &signal(json!("sigterm")), &json!({ "command_id": "c1", "signal": "TERM" }));
    for secret in [json!("hunter2"), json!(271_828)] {
        check("shell.signal", &signal(secret), &json!({ "command_id": "c1" }));
    }
}

/// A parameter that the method does not have says nothing about the request.
#[test]
fn only_parameters_of_the_method_count() {
    let params = json!({
        "root_id": "main", "path": "a", "command": "ls", "argv": ["ls"], "name": "open", "command_id": "c", "call_id": "c",
        "content": "x", "data": "x", "arguments": {}, "signal": 9,
    });
    check("file.read", &params, &json!({ "content_bytes": 1 }));
    check("shell.status", &params, &json!({ "command_id": "c", "data_bytes": 1, "signal": "9" }));
    check("tool.cancel", &params, &json!({ "tool": "open", "call_id": "c", "arguments_bytes": 2 }));
    check("shell.dance", &params, &json!({}));
    check("computer.see", &params, &json!({}));
}

#[test]
fn what_makes_no_sense_is_left_out() {
    check("file.read", &json!([1, 2]), &json!({}));
    check("shell.start", &json!([1, 2]), &json!({}));
    let params = json!({ "root_id": 7, "path": "/etc/passwd", "argv": "x", "name": "no name" });
    for method in ["file.read", "shell.start", "tool.call"] {
        check(method, &params, &json!({}));
        let about = RequestSummary::from_request(method, &RawJson::from_value(&params));
        assert_eq!((about.root_id, about.path), (None, None));
    }
}
