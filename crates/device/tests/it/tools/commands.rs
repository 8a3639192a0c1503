//! Commands of a `tools.toml`.

use std::time::Instant;

use protocol::relay::{RelayContext, RelayErrorCode};
use serde_json::{Value, json};

use super::support::{SOON, commands, content, is_running, names, script, until};

const EDITOR: &str = r#"
[[tool]]
name = "open_in_editor"
title = "Open in the editor"
description = "Opens a file at a line."
command = ["cat"]
risk = "low"
approval = "allow"

[tool.input_schema]
type = "object"
required = ["path"]
additionalProperties = false

[tool.input_schema.properties]
path = { type = "string" }
line = { type = "integer", minimum = 1 }
"#;

/// relay-84, relay-86, relay-21: a descriptor has all of its fields, and a hello says how many there are.
#[tokio::test]
async fn tools_are_listed_with_all_that_is_known_of_them() {
    let (lent, _directory) = commands(EDITOR).await;
    let listed = lent.ask("tool.list", json!({}), None).await.unwrap();
    assert_eq!(
        listed,
        json!({ "tools": [{
            "name": "open_in_editor",
            "title": "Open in the editor",
            "description": "Opens a file at a line.",
            "input_schema": {
                "type": "object",
                "properties": { "path": { "type": "string" }, "line": { "type": "integer", "minimum": 1 } },
                "required": ["path"],
                "additionalProperties": false,
            },
            "capability": "tools",
            "risk": "low",
            "approval_policy": "allow",
        }] })
    );
    assert_eq!(lent.device.offer().tools.unwrap().tool_count, 1);
}

/// relay-85: the arguments come on stdin, as JSON, and nothing of them is in the arguments of the process.
#[tokio::test]
async fn arguments_come_on_stdin_and_never_in_argv() {
    let (lent, _directory) = commands(&script("tell", "tr '\\0' ' ' </proc/$$/cmdline; echo; cat", "")).await;
    let evil = json!({ "text": "$(touch /tmp/x); --help '\"\n" });
    let answer = lent.call("tell", evil.clone()).await.unwrap();
    let (argv, stdin) = answer["content"].as_str().unwrap().split_once('\n').unwrap();
    assert!(argv.starts_with("sh -c") && !argv.contains("touch"), "{argv}");
    assert_eq!(serde_json::from_str::<Value>(stdin).unwrap(), evil);
    assert_eq!(answer.get("is_error"), None);
}

/// Appendix B: what a command writes is an answer as JSON, or a text.
#[tokio::test]
async fn an_answer_is_json_or_a_text() {
    let parts = r#"echo '{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA==","mime_type":"image/png"},{"type":"odd","x":1}],"structured":{"n":1}}'"#;
    let tools = [
        script("parts", parts, ""),
        script("failed", r#"echo '{"content":"no such thing","is_error":true}'"#, ""),
        script("other", r#"echo '{"contents":"x"}'"#, ""),
        script("text", "printf 'plain\\377'", ""),
    ];
    let (lent, _directory) = commands(&tools.concat()).await;
    assert_eq!(
        lent.call("parts", json!({})).await.unwrap(),
        json!({ "content": [
            { "type": "text", "text": "a" },
            { "type": "image", "data": "AA==", "mime_type": "image/png" },
            { "type": "odd", "x": 1 },
        ], "structured": { "n": 1 } })
    );
    assert_eq!(
        lent.call("failed", json!({})).await.unwrap(),
        json!({ "content": "no such thing", "is_error": true })
    );
    assert_eq!(lent.call("other", json!({})).await.unwrap(), json!({ "content": "{\"contents\":\"x\"}\n" }));
    assert_eq!(lent.call("text", json!({})).await.unwrap(), json!({ "content": "plain\u{fffd}" }));
}

/// A command that fails tells its story, and the request is answered all the same.
#[tokio::test]
async fn a_command_that_fails_is_an_answer_with_the_end_of_its_stderr() {
    let tools = [
        script("fails", "echo half; echo why >&2; exit 3", ""),
        script("dies", "kill -9 $$", ""),
        "[[tool]]\nname = \"gone\"\ndescription = \"\"\nrisk = \"low\"\ncommand = [\"/nowhere/at-all\"]\ninput_schema = {}\n"
            .into(),
    ];
    let (lent, _directory) = commands(&tools.concat()).await;
    let failed = lent.call("fails", json!({})).await.unwrap();
    assert_eq!(failed, json!({ "content": "half\nwhy\nexit code 3", "is_error": true }));
    let died = lent.call("dies", json!({})).await.unwrap();
    assert_eq!(died, json!({ "content": "signal 9", "is_error": true }));
    // relay-43: where it would be is nobody's business.
    let error = lent.call("gone", json!({})).await.unwrap_err();
    assert_eq!(error.code, RelayErrorCode::ProviderError);
    assert!(!format!("{error:?}").contains("nowhere"), "{error:?}");
}

/// relay-87, relay-165: violations are found at the provider, and the command is not run.
#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_with_their_place() {
    let (lent, directory) = commands(&EDITOR.replace(r#"["cat"]"#, r#"["touch", "ran"]"#)).await;
    for (arguments, pointer) in [
        (json!({}), ""),
        (json!({ "path": "a", "line": 0 }), "/line"),
        (json!({ "path": 1 }), "/path"),
        (json!({ "path": "a", "more": true }), ""),
    ] {
        let error = lent.call("open_in_editor", arguments).await.unwrap_err();
        assert_eq!(
            (error.code, &error.details["pointer"]),
            (RelayErrorCode::InvalidRequest, &json!(pointer)),
            "{error:?}"
        );
    }
    assert!(!directory.path().join("ran").exists());
    lent.call("open_in_editor", json!({ "path": "a" })).await.unwrap();
    assert!(directory.path().join("ran").exists());
    let unknown = lent.call("no_such_tool", json!({})).await.unwrap_err();
    assert_eq!(unknown.code, RelayErrorCode::NotFound);
    let malformed = lent.ask("tool.call", json!({ "name": "a b" }), None).await.unwrap_err();
    assert_eq!(malformed.code, RelayErrorCode::InvalidRequest);
}

/// A script that cannot be told to end, with a child that cannot either.
const STUBBORN: &str = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >child; sleep 600' & wait; sleep 600";

/// relay-89, relay-53: a `cancel` frame ends all processes of a tool, and is answered after that.
#[tokio::test]
async fn a_cancelled_tool_is_gone_when_that_is_answered() {
    let (lent, directory) = commands(&script("wait", STUBBORN, "")).await;
    let call = lent.begin("tool.call", json!({ "name": "wait", "call_id": "c1" }), None).await;
    let pid: u32 = content(&directory.path().join("child")).await.trim().parse().unwrap();
    assert!(is_running(pid));
    drop(call);
    // Who dropped it hears nothing of it; the processes tell.
    until(|| !is_running(pid)).await;

    std::fs::remove_file(directory.path().join("child")).unwrap();
    // Another name: the first use may not be quite over when its processes are.
    let call = lent.begin("tool.call", json!({ "name": "wait", "call_id": "c2" }), None).await;
    let pid: u32 = content(&directory.path().join("child")).await.trim().parse().unwrap();
    // relay-89: the same by `tool.cancel`.
    assert_eq!(lent.ask("tool.cancel", json!({ "call_id": "c2" }), None).await.unwrap(), json!({}));
    let error = testkit::within(SOON, call.outcome()).await.unwrap_err();
    assert_eq!(error.code, RelayErrorCode::Cancelled);
    assert!(error.recoverable && !is_running(pid), "{error:?}");
    // relay-52: what is unknown or over is not there to be cancelled.
    assert_eq!(lent.ask("tool.cancel", json!({ "call_id": "c2" }), None).await.unwrap(), json!({}));
}

/// A session cannot cancel what another uses, nor use a name that goes on.
#[tokio::test]
async fn the_uses_of_one_session_are_not_those_of_another() {
    let wait = "echo $$ >pid; while ! [ -e go ]; do sleep 0.01; done; printf done";
    let (lent, directory) = commands(&script("wait", wait, "")).await;
    let of =
        |session: &str| Some(RelayContext { session_id: Some(session.into()), ..RelayContext::default() });
    let (pid, go) = (directory.path().join("pid"), directory.path().join("go"));
    let params = json!({ "name": "wait", "call_id": "c1" });
    let call = lent.begin("tool.call", params.clone(), of("one")).await;
    content(&pid).await;
    lent.ask("tool.cancel", json!({ "call_id": "c1" }), of("two")).await.unwrap();
    lent.ask("tool.cancel", json!({ "call_id": "c1" }), None).await.unwrap();
    let again = lent.ask("tool.call", params.clone(), of("one")).await.unwrap_err();
    assert_eq!(again.code, RelayErrorCode::InvalidRequest);
    std::fs::write(&go, "").unwrap();
    let answer: Value = testkit::within(SOON, call.outcome()).await.unwrap().read().unwrap();
    assert_eq!(answer["content"], "done");

    std::fs::remove_file(&go).unwrap();
    std::fs::remove_file(&pid).unwrap();
    let call = lent.begin("tool.call", params, of("one")).await;
    content(&pid).await;
    lent.ask("tool.cancel", json!({ "call_id": "c1" }), of("one")).await.unwrap();
    assert_eq!(testkit::within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
}

/// relay-36: a tool that takes too long is ended.
#[tokio::test]
async fn a_tool_that_takes_too_long_is_ended() {
    let (lent, directory) = commands(&script("wait", "echo $$ >pid; sleep 600", "timeout_ms = 300")).await;
    let start = Instant::now();
    let error = lent.call("wait", json!({})).await.unwrap_err();
    assert_eq!((error.code, &error.details["limit"]), (RelayErrorCode::Timeout, &json!(300)));
    assert!(start.elapsed() < SOON);
    let pid: u32 = content(&directory.path().join("pid")).await.trim().parse().unwrap();
    assert!(!is_running(pid));
}

/// relay-139: the environment is empty but for what is allowed.
#[tokio::test]
async fn a_tool_has_the_environment_that_it_is_allowed() {
    let (lent, _directory) =
        commands(&[script("plain", "env", ""), script("more", "env", "env = [\"ALLOWED\"]")].concat()).await;
    let plain = lent.call("plain", json!({})).await.unwrap().to_string();
    assert!(plain.contains("PATH=") && !plain.contains("hunter2") && !plain.contains("ALLOWED"), "{plain}");
    // The tests have this one.
    assert!(std::env::vars_os().any(|(name, _)| name == "CARGO_MANIFEST_DIR"));
    assert!(!plain.contains("CARGO_MANIFEST_DIR"), "{plain}");
    let more = lent.call("more", json!({})).await.unwrap().to_string();
    assert!(more.contains("ALLOWED=yes") && !more.contains("hunter2"), "{more}");
}

/// A flood is cut, and what is held of it is bounded.
#[tokio::test]
async fn a_flood_is_cut_and_says_so() {
    let flood = "head -c 50000000 /dev/zero | tr '\\0' '\\001'";
    let (lent, _directory) = commands(&script("flood", flood, "")).await;
    let answer = lent.call("flood", json!({})).await.unwrap();
    let text = answer["content"].as_str().unwrap();
    assert!(text.ends_with("[cut: 50000000 bytes in all]") && text.len() < 150_000, "{}", text.len());
    // A JSON answer that is too large is no answer.
    let (lent, _directory) = commands(&script(
        "large",
        r#"printf '{"content":"'; head -c 921000 /dev/zero | tr '\0' x; printf '"}'"#,
        "",
    ))
    .await;
    let answer = lent.call("large", json!({})).await;
    assert!(answer.is_ok(), "as it is no whole JSON it is a text: {answer:?}");
    let names_of = lent.ask("tool.list", json!({}), None).await.unwrap();
    assert_eq!(names(&names_of), ["large"]);
}

/// relay-34: more uses than there may be are refused at once, and nothing is queued.
#[tokio::test]
async fn too_many_uses_at_a_time_are_refused() {
    let (lent, _directory) = commands(&script("wait", "sleep 600", "")).await;
    let mut going = Vec::new();
    for _ in 0..33 {
        going.push(lent.begin("tool.call", json!({ "name": "wait" }), None).await);
    }
    let refused = testkit::within(SOON, going.pop().unwrap().outcome()).await.unwrap_err();
    assert_eq!((refused.code, &refused.details["reason"]), (RelayErrorCode::ProviderError, &json!("busy")));
    assert!(refused.recoverable);
}
