//! What a real agent says before it is asked anything.

use serde_json::{Value, json};

use super::{
    agent::PI,
    chat::{Answer, Chat},
    stage::Stage,
};

fn messages(records: &[Value]) -> impl Iterator<Item = &Value> {
    records.iter().map(|record| &record["event"]["message"]).filter(|message| message["id"].is_string())
}

/// pi greets when a session begins. The greeting is a message of its own, and its first answer another, in the turn.
#[tokio::test]
async fn pi() {
    let stage = Stage::new(&PI).await;
    let mut chat: Chat<'_> = stage.chat(&json!({})).await;
    chat.until(|records| records.iter().any(|record| record["event"]["messageDelta"].is_object())).await;
    let greeting = messages(&chat.records).next().unwrap()["id"].clone();
    let turn = chat.turn("say:first answer", Answer::Nothing).await;
    assert_eq!(turn.reason, "completed", "{turn:?}");

    let greetings = messages(&chat.records).filter(|message| message["id"] == greeting);
    for message in greetings {
        assert!(message["turnId"].is_null(), "{message}");
    }
    let answers = messages(&chat.records).skip_while(|message| message["role"] != "user");
    let answer = answers.into_iter().find(|message| message["role"] == "assistant").unwrap();
    assert_ne!(answer["id"], greeting, "{answer}");
}
