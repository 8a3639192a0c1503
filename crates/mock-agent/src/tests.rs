//! acp-24: the built-in mock does what the prompt says.

use serde_json::{Value, json};

use super::*;

fn run(lines: &[Value]) -> (Vec<String>, u8) {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut output = Vec::new();
    let code = serve(input.as_bytes(), &mut output).unwrap();
    (String::from_utf8_lossy(&output).lines().map(str::to_owned).collect(), code)
}

fn prompt(id: u64, text: &str) -> Value {
    let params = json!({ "sessionId": "mock-1", "prompt": [{ "type": "text", "text": text }] });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })
}

fn check(text: &str, updates: usize, last: &str) {
    let (output, code) = run(&[prompt(1, text)]);
    assert_eq!((output.len(), code), (updates + 1, 0), "{output:?}");
    assert!(output[updates].contains(last), "{}", output[updates]);
}

#[test]
fn each_step_says_what_the_table_promises() {
    check("hello", 1, r#""stopReason":"end_turn""#);
    check("/chunks 5", 5, "end_turn");
    check("/updates 7 300", 7, "end_turn");
    check("/tool\nbye", 3, "end_turn");
    check("/think hm", 1, "end_turn");
    check("/garbage", 5, "end_turn");
    check("", 0, "end_turn");
    check("/edit", 2, "end_turn");
    check("/drip 2 1", 2, "end_turn");
    check("/plan\n/commands", 2, "end_turn");
    check("/fail -32000 Invalid API key", 0, r#""code":-32000"#);
}

#[test]
fn a_permission_is_asked_and_its_answer_heard() {
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "outcome": { "outcome": "selected", "optionId": "reject" } } });
    let (output, _) = run(&[prompt(9, "/permission"), answer]);
    assert!(output[0].contains("session/request_permission"));
    assert!(output[1].contains("permission answered: reject"));
    assert!(output[2].contains(r#""id":9"#) && output[2].contains("end_turn"));
}

#[test]
fn an_allowed_call_is_completed() {
    let outcome = json!({ "outcome": "selected", "optionId": "allow" });
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "outcome": outcome } });
    let (output, _) = run(&[prompt(9, "/permission"), answer]);
    assert!(output[1].contains(r#""toolCallId":"call-2""#) && output[1].contains("completed"), "{output:?}");
    assert!(output[2].contains("permission answered: allow"));
}

#[test]
fn a_loaded_session_is_told_again() {
    let load = |id: u64| {
        let params = json!({ "sessionId": "mock-1", "cwd": "/", "mcpServers": [] });
        json!({ "jsonrpc": "2.0", "id": id, "method": "session/load", "params": params })
    };
    let (output, _) = run(&[prompt(1, "hello"), load(2), load(3)]);
    // One update and an answer; then twice the user's message, the update and an answer.
    assert_eq!(output.len(), 8, "{output:?}");
    for told in [&output[2..5], &output[5..8]] {
        assert!(told[0].contains("user_message_chunk") && told[0].contains("hello"), "{told:?}");
        assert!(told[1].contains("agent_message_chunk") && told[1].contains("hello"), "{told:?}");
        assert!(told[2].contains("currentModeId"), "{told:?}");
    }
}

#[test]
fn a_hanging_turn_is_ended_by_cancel_and_only_one_turn_runs() {
    let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": {} });
    let (output, _) = run(&[prompt(1, "/hang"), prompt(2, "hi"), cancel]);
    assert!(output[0].contains("running already"));
    assert!(output[1].contains("cancelled"));
}

#[test]
fn a_crash_ends_with_its_code_and_bad_lines_do_not() {
    assert_eq!(run(&[prompt(1, "/crash 3")]).1, 3);
    let (output, code) = run(&[json!("no message")]);
    assert!(output[0].contains("-32700") && code == 0);
}

#[test]
fn a_form_and_a_plan_are_asked_and_their_answers_heard() {
    let form = json!({ "jsonrpc": "2.0", "id": 1, "result": { "action": "accept", "content": { "a_colour": "r" } } });
    let plan = json!({ "jsonrpc": "2.0", "id": 2, "result": { "outcome": { "outcome": "selected", "optionId": "approve" } } });
    let (output, _) = run(&[prompt(9, "/question\n/approve First this, then that"), form, plan]);
    assert!(output[0].contains("elicitation/create"), "{}", output[0]);
    assert!(output[1].contains("question answered: {\\\"a_colour\\\":\\\"r\\\"}"), "{}", output[1]);
    assert!(output[2].contains("First this, then that"), "{}", output[2]);
    assert!(output[3].contains("plan answered: approve"), "{}", output[3]);
}

#[test]
fn always_is_for_always_and_steering_goes_on_with_what_hangs() {
    let always = json!({ "jsonrpc": "2.0", "id": 1, "result": { "outcome": { "outcome": "selected", "optionId": "always" } } });
    let more = json!([{ "type": "text", "text": "hurry" }]);
    let steer =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "_session/steering", "params": { "prompt": more } });
    let (output, _) = run(&[prompt(9, "/permission\n/permission\n/hang"), always, steer.clone(), steer]);
    assert!(output[3].contains("permission not needed"), "{output:?}");
    assert!(output[4].contains("accepted") && output[5].contains("hurry"), "{output:?}");
    assert!(output[6].contains("end_turn") && output[7].contains("rejected"), "{output:?}");
}

#[test]
fn another_process_recalls_what_one_was_told() {
    let directory = tempfile::tempdir().unwrap();
    let opened = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let (output, _) = run(&[opened("session/new", json!({ "cwd": directory.path() }))]);
    let made: Value = serde_json::from_str(&output[0]).unwrap();
    let load =
        opened("session/load", json!({ "cwd": directory.path(), "sessionId": made["result"]["sessionId"] }));
    let told = |text: &str| {
        let mut told = prompt(2, text);
        told["params"]["sessionId"] = made["result"]["sessionId"].clone();
        told
    };
    run(&[load.clone(), told("/remember the blue one")]);
    let (output, _) = run(&[load, told("/recall")]);
    assert!(output[1].contains("recalled: the blue one"), "{output:?}");
}
