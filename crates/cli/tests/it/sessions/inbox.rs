//! What waits in all sessions, followed and answered in one place.

use std::collections::BTreeSet;

use super::*;
use crate::{asker::asker, check_problem, problem};

/// Follows what waits.
struct Listener(EventStream);

impl Listener {
    async fn new(daemon: &TestDaemon) -> Self {
        Self(EventStream::new(daemon.get("/v1/waits/events").await))
    }

    async fn next(&mut self) -> Value {
        let event = within(secs(30), self.0.next()).await.unwrap();
        serde_json::from_str(&event.data).unwrap()
    }
}

fn ids<'a>(waits: impl IntoIterator<Item = &'a Value>) -> Vec<String> {
    waits.into_iter().map(|wait| wait["id"].as_str().unwrap().to_owned()).collect()
}

/// DESIGN "a wait": what is open, then what is asked and settled, by whom and how; answered by its id alone.
#[tokio::test]
async fn what_waits_is_followed_and_answered() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut early = Listener::new(&daemon).await;
    assert_eq!(early.next().await, json!({ "type": "snapshot", "waits": [] }));
    for (session, message) in
        [("first", "/permission"), ("second", "/question"), ("third", "/approve a plan")]
    {
        create(&daemon, session).await;
        send(&daemon, session, message).await;
        let opened = early.next().await;
        assert_eq!((&opened["type"], &opened["wait"]["sessionId"]), (&json!("opened"), &json!(session)));
    }
    let listed = get(&daemon, "/v1/waits").await;
    let mut late = Listener::new(&daemon).await;
    assert_eq!(late.next().await, json!({ "type": "snapshot", "waits": listed["items"] }));
    let [permission, question, plan] = ids(listed["items"].as_array().unwrap()).try_into().unwrap();
    for (wait, answer, outcome) in [
        (&permission, json!({ "permission": "once" }), json!({ "permission": "once" })),
        (
            &question,
            json!({ "question": [["Red"], ["Door"]] }),
            json!({ "question": { "answered": [["Red"], ["Door"]] } }),
        ),
        (&plan, json!("reject"), json!({ "question": "rejected" })),
    ] {
        let body = json!({ "answer": answer, "author": "ada" });
        let answered = daemon.post(&format!("/v1/waits/{wait}"), &body).await;
        assert_eq!(answered.status(), 200);
        let settled: Value = answered.json().await.unwrap();
        let how = &settled["settlement"];
        assert_eq!((&how["author"], &how["outcome"]), (&json!("ada"), &outcome));
        for listener in [&mut early, &mut late] {
            assert_eq!(listener.next().await, json!({ "type": "settled", "wait": settled }));
        }
        let again = daemon.post(&format!("/v1/waits/{wait}"), &json!({ "answer": "reject" })).await;
        let told = problem(again).await;
        check_problem(&told, 409, "urn:problem:wait-settled");
        assert!(told["detail"].as_str().unwrap().contains("by ada"), "{told}");
    }
}

/// What cannot be answered so is told, and changes nothing.
#[tokio::test]
async fn what_is_no_answer_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut listener = Listener::new(&daemon).await;
    listener.next().await;
    send(&daemon, "s", "/question").await;
    let wait = listener.next().await["wait"]["id"].as_str().unwrap().to_owned();
    let unknown = format!("wat_{}", "0".repeat(32));
    for (wait, body, status, kind) in [
        (&*unknown, json!({ "answer": "reject" }), 404, "urn:problem:wait-not-found"),
        (&*wait, json!({ "answer": { "permission": "once" } }), 404, "urn:problem:wait-not-found"),
        (&*wait, json!({ "answer": { "question": [] } }), 400, "urn:problem:invalid-answer"),
        (&*wait, json!({ "answer": "maybe" }), 400, "urn:problem:invalid-request"),
        (&*wait, json!({}), 400, "urn:problem:invalid-request"),
    ] {
        let refused = daemon.post(&format!("/v1/waits/{wait}"), &body).await;
        check_problem(&problem(refused).await, status, kind);
    }
    assert_eq!(get(&daemon, "/v1/waits").await["items"].as_array().unwrap().len(), 1);
    // A session that is deleted waits for nobody.
    daemon.delete(&path("s", "")).await;
    let settled = listener.next().await;
    assert_eq!((&settled["type"], &settled["wait"]["id"]), (&json!("settled"), &json!(wait)));
    assert_eq!(settled["wait"]["settlement"]["author"], Value::Null);
}

/// Whoever comes while much is asked misses nothing and is told nothing twice.
#[tokio::test]
async fn who_comes_in_the_middle_misses_nothing() {
    const WAITS: usize = 200;
    let daemon = asker(WAITS).start(TOMBOLO);
    create_with(&daemon, "s", &json!({ "agent": "asker" })).await;
    let mut first = Listener::new(&daemon).await;
    first.next().await;
    send(&daemon, "s", "ask").await;
    let mut late = Vec::new();
    let mut opened = Vec::new();
    while opened.len() < WAITS {
        let event = first.next().await;
        assert_eq!(event["type"], "opened");
        opened.extend(ids([&event["wait"]]));
        if opened.len().is_multiple_of(20) {
            late.push(Listener::new(&daemon).await);
        }
    }
    assert_eq!(opened.iter().collect::<BTreeSet<_>>().len(), WAITS);
    for listener in &mut late {
        let mut known = ids(listener.next().await["waits"].as_array().unwrap());
        while known.len() < WAITS {
            let event = listener.next().await;
            assert_eq!(event["type"], "opened");
            known.extend(ids([&event["wait"]]));
        }
        assert_eq!(known, opened);
    }
    daemon.post_text(&path("s", "/cancel"), "").await;
    for listener in late.iter_mut().chain([&mut first]) {
        let mut gone = BTreeSet::new();
        while gone.len() < WAITS {
            let event = listener.next().await;
            assert_eq!(event["type"], "settled");
            assert!(gone.insert(event["wait"]["id"].as_str().unwrap().to_owned()), "{event}");
        }
    }
}
