//! The sessions of clients of older revisions: their streams, how many there are, and how they end.

use protocol::relay::{Family, RootMode};
use relay::Environment;
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::{
    raw::{RawClient, first_event, is_priming},
    stage::{ALL, Stage, binding, within},
};

/// How many sessions an environment has at most.
const SESSIONS_MAX: usize = 64;

async fn opened(stage: &Stage, version: &'static str) -> RawClient {
    let mut client = RawClient::new(stage, version);
    client.initialize().await.unwrap();
    client
}

/// Clients before 2025-11-25 parse the data of each event as JSON, so they are sent no event without data. Later ones are, and
/// resume a broken stream from it.
#[tokio::test]
async fn only_clients_that_know_the_priming_event_are_sent_it() {
    for (version, expected) in
        [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", false), ("2025-11-25", true)]
    {
        let stage = Stage::new(&ALL, RootMode::Rw).await;
        let mut client = RawClient::new(&stage, version);
        let opened = client.initialize().await.unwrap();
        assert!(!opened.iter().any(|event| is_priming(event)), "nothing is agreed yet: {version} {opened:?}");
        let answer = client.answer("tools/list").await;
        assert_eq!(is_priming(&answer[0]), expected, "{version} {answer:?}");
        assert!(answer.last().unwrap().contains("read_file"), "{version} {answer:?}");

        let mut stream = client.listen().await;
        let less = Environment::new(binding(&[Family::Shell], RootMode::Rw), stage.device.clone());
        stage.environments.send_replace(less);
        let first = first_event(&mut stream).await;
        assert_eq!(is_priming(&first), expected, "{version} {first}");
    }
}

/// Many clients leave without ending their session. The one that has been idle longest makes room; one with a stream stays.
#[tokio::test]
async fn the_session_that_has_been_idle_longest_makes_room() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let listening = opened(&stage, "2025-06-18").await;
    let _stream = listening.listen().await;
    let oldest = opened(&stage, "2025-06-18").await;
    let mut younger = Vec::new();
    for _ in 2..SESSIONS_MAX {
        younger.push(opened(&stage, "2025-06-18").await);
    }
    let newest = opened(&stage, "2025-06-18").await;
    assert_eq!(oldest.status(Method::POST).await, StatusCode::NOT_FOUND);
    for client in [&listening, &younger[0], younger.last().unwrap(), &newest] {
        assert_eq!(client.status(Method::POST).await, StatusCode::OK);
    }
}

/// When each session has a stream, no other is opened. Clients without sessions are served all the same.
#[tokio::test]
async fn requests_without_a_session_are_served_when_there_is_no_room() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let mut streams = Vec::new();
    for _ in 0..SESSIONS_MAX {
        let client = opened(&stage, "2025-06-18").await;
        streams.push((client.listen().await, client));
    }
    let mut late = RawClient::new(&stage, "2025-06-18");
    assert_eq!(late.initialize().await.unwrap_err(), StatusCode::SERVICE_UNAVAILABLE);
    let stateless = RawClient::new(&stage, "2026-07-28");
    let listed = within(stateless.post_stateless("tools/list", json!({})).send()).await.unwrap();
    assert_eq!(listed.status(), StatusCode::OK);

    let (_, ended) = streams.pop().unwrap();
    assert_eq!(ended.status(Method::DELETE).await, StatusCode::NO_CONTENT);
    late.initialize().await.unwrap();
}

/// Ending a session says whether there was one.
#[tokio::test]
async fn ending_a_session_says_whether_there_was_one() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let client = opened(&stage, "2025-06-18").await;
    assert_eq!(client.status(Method::DELETE).await, StatusCode::NO_CONTENT);
    assert_eq!(client.status(Method::DELETE).await, StatusCode::NOT_FOUND);
    assert_eq!(client.status(Method::POST).await, StatusCode::NOT_FOUND);
}

/// What is not declared does not exist, in each revision.
#[tokio::test]
async fn undeclared_methods_are_refused() {
    let stage = Stage::new(&ALL, RootMode::Rw).await;
    let client = opened(&stage, "2025-11-25").await;
    let stateless = RawClient::new(&stage, "2026-07-28");
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        let answer = client.answer(method).await;
        assert!(answer.last().unwrap().contains("-32601"), "{method} {answer:?}");
        let refused = within(stateless.post_stateless(method, json!({})).send()).await.unwrap();
        assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{method}");
        assert_eq!(refused.json::<serde_json::Value>().await.unwrap()["error"]["code"], -32601, "{method}");
    }
}

/// A tool of the device may want an argument as a header too (`x-mcp-header`): the header must be there and must agree with the
/// argument, also in the first request of a client, before anything asked which tools there are.
#[tokio::test]
async fn headers_that_a_tool_wants_must_agree_with_the_arguments() {
    let region = json!({ "type": "string", "x-mcp-header": "Region" });
    let tool = json!({
        "name": "deploy", "description": "Deploy", "risk": "low", "approval_policy": "allow",
        "input_schema": { "type": "object", "properties": { "region": region } },
    });
    for (header, argument, expected) in [
        (Some("north"), Some("north"), StatusCode::OK),
        (Some("=?base64?bm9ydGg=?="), Some("north"), StatusCode::OK),
        (None, None, StatusCode::OK),
        (None, Some("north"), StatusCode::BAD_REQUEST),
        (Some("south"), Some("north"), StatusCode::BAD_REQUEST),
        (Some("north"), None, StatusCode::BAD_REQUEST),
        (Some("=?base64?!?="), Some("north"), StatusCode::BAD_REQUEST),
    ] {
        let stage = Stage::new(&ALL, RootMode::Rw).await;
        stage.device.set_tools(vec![tool.clone()]);
        let arguments = argument.map_or(json!({}), |region| json!({ "region": region }));
        let client = RawClient::new(&stage, "2026-07-28");
        let mut call =
            client.post_stateless("tools/call", json!({ "name": "deploy", "arguments": arguments }));
        if let Some(header) = header {
            call = call.header("mcp-param-region", header);
        }
        let answer = within(call.send()).await.unwrap();
        assert_eq!(answer.status(), expected, "{header:?} {argument:?}");
        if expected == StatusCode::BAD_REQUEST {
            let body: serde_json::Value = answer.json().await.unwrap();
            assert_eq!(body["error"]["code"], -32020, "{body}");
            assert!(!stage.device.asked().iter().any(|(method, ..)| method == "tool.call"));
        }
    }
}
