//! acp #24: the built-in mock does what the prompt says.

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
