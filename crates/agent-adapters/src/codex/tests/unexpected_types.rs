//! Messages in which one field or item has another type than expected.

use serde_json::{Value, json};

use super::{super::adapt, hear};
use crate::{Out, replay};

/// The facts of one message to an adapter with an open thread, as JSON.
fn facts(message: &Value) -> Value {
    let (mut adapter, mut out) = (adapt(&replay::options()).unwrap().adapter, Out::default());
    adapter.start(&mut out);
    hear(adapter.as_mut(), &json!({ "id": 1, "result": { "userAgent": 7 } }), &mut out);
    hear(adapter.as_mut(), &json!({ "id": 2, "result": { "thread": { "id": "t" }, "model": [] } }), &mut out);
    out.facts.clear();
    hear(adapter.as_mut(), message, &mut out);
    serde_json::to_value(&out.facts).unwrap()
}

/// sessions-9: nothing an agent says is dropped.
#[test]
fn a_bad_option_or_question_does_not_lose_the_others() {
    let questions = json!([
        { "id": "a", "question": "Which?", "options": [{ "label": "X" }, 5, { "description": "d" }, { "label": "Y", "description": [] }] },
        7,
        { "id": "c", "question": "Name?", "header": {}, "options": null, "isOther": "yes" },
    ]);
    let params = json!({ "threadId": "t", "itemId": "q", "questions": questions });
    let facts = facts(&json!({ "id": 9, "method": "item/tool/requestUserInput", "params": params }));
    let asked = facts.as_array().unwrap().iter().find_map(|fact| fact.get("asked")).unwrap();
    let questions = asked["asking"]["question"]["questions"].as_array().unwrap();
    let texts: Vec<_> = questions.iter().map(|question| question["question"].as_str().unwrap()).collect();
    // A question keeps its place: answers refer to questions by position.
    assert_eq!(texts, ["Which?", "", "Name?"]);
    let labels: Vec<_> =
        questions[0]["options"].as_array().unwrap().iter().map(|option| &option["label"]).collect();
    assert_eq!(labels, ["X", "Y"]);
}

/// sessions-9: nothing an agent says is dropped.
#[test]
fn a_bad_field_of_an_item_does_not_lose_its_output() {
    let item = json!({
        "type": "commandExecution", "id": "c", "command": "ls", "cwd": 1, "status": ["completed"], "exitCode": "0",
        "commandActions": [5, { "type": "listFiles", "command": "ls" }], "aggregatedOutput": "a.txt",
    });
    let params = json!({ "threadId": "t", "item": item });
    let facts = facts(&json!({ "method": "item/completed", "params": params }));
    let parts = &facts.as_array().unwrap().last().unwrap()["event"]["message"]["parts"];
    assert_eq!((&parts[0]["kind"], &parts[0]["status"]), (&json!("search"), &json!("completed")));
    assert_eq!(parts[1]["output"], "a.txt");
}

/// sessions-7: Agent errors are typed.
#[test]
fn an_error_of_an_unexpected_shape_is_an_error_all_the_same() {
    let params =
        json!({ "threadId": "t", "error": { "message": 5, "codexErrorInfo": 7 }, "willRetry": "no" });
    let facts = facts(&json!({ "method": "error", "params": params }));
    assert!(
        facts[0]["event"]["error"].to_string().contains(r#"{\"codexErrorInfo\":7,\"message\":5}"#),
        "{facts}"
    );
}
