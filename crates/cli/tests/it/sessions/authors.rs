//! Who is behind what is done.

use super::*;
use crate::{check_problem, problem};

const AUTHOR: &str = "tombolo-author";

async fn post(daemon: &TestDaemon, path: &str, by: Option<&str>, body: &Value) -> Response {
    let mut request = daemon.request(Method::POST, path).json(body);
    if let Some(by) = by {
        request = request.header(AUTHOR, by);
    }
    request.send().await.unwrap()
}

/// Whoever passes requests on says who is behind them: that is stronger than what the body says, which holds without it.
#[tokio::test]
async fn the_header_is_stronger_than_the_body() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    for (by, name) in [(Some("grace"), "grace"), (None, "ada")] {
        let message = json!({ "message": "/permission", "author": "ada" });
        assert_eq!(post(&daemon, &path("s", "/messages"), by, &message).await.status(), 202);
        assert_eq!(followed.next_of("input").await["author"], name);
        let wait = followed.next_of("permissionAsked").await["id"].as_str().unwrap().to_owned();
        let reply = json!({ "reply": "once", "author": "ada" });
        let answered = post(&daemon, &path("s", &format!("/permissions/{wait}/reply")), by, &reply).await;
        assert_eq!(answered.status(), 204);
        assert_eq!(followed.next_of("permissionResolved").await["author"], name);
        followed.until("turnEnded").await;
    }
    for (by, name) in [(Some("grace"), "grace"), (None, "ada")] {
        send(&daemon, "s", "/question").await;
        let wait = followed.next_of("questionAsked").await["id"].as_str().unwrap().to_owned();
        let rejection = json!({ "author": "ada" });
        let rejected = post(&daemon, &path("s", &format!("/questions/{wait}/reject")), by, &rejection).await;
        assert_eq!(rejected.status(), 204);
        assert_eq!(followed.next_of("questionResolved").await["author"], name);
        followed.until("turnEnded").await;
    }
}

/// Who changes a message or takes it back is named too.
#[tokio::test]
async fn who_changes_a_message_is_named() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/hang").await;
    followed.next_of("turnStarted").await;
    let input = send(&daemon, "s", "later").await["inputId"].as_str().unwrap().to_owned();
    let at = path("s", &format!("/inputs/{input}"));
    let edit = daemon.request(Method::PUT, &at).header(AUTHOR, "grace").json(&json!({ "message": "soon" }));
    assert_eq!(edit.send().await.unwrap().status(), 204);
    let withdraw = daemon.request(Method::DELETE, &at).header(AUTHOR, "joan");
    assert_eq!(withdraw.send().await.unwrap().status(), 204);
    let mut told = Vec::new();
    while told.len() < 2 {
        let receipt = followed.next_of("input").await;
        if receipt["inputId"] == *input && receipt["state"] != "accepted" {
            told.push((receipt["state"].clone(), receipt["author"].clone()));
        }
    }
    assert_eq!(told, [(json!("edited"), json!("grace")), (json!("withdrawn"), json!("joan"))]);
}

/// A name that cannot be used is told, and changes nothing.
#[tokio::test]
async fn a_name_that_cannot_be_used_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let before = all(&daemon, "s").await.len();
    for name in ["", &"x".repeat(129)] {
        let refused =
            post(&daemon, &path("s", "/messages"), Some(name), &json!({ "message": "hello" })).await;
        check_problem(&problem(refused).await, 400, "urn:problem:invalid-request");
    }
    assert_eq!(all(&daemon, "s").await.len(), before);
}
