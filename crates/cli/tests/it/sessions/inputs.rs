//! sessions-3: what people send.

use super::*;
use crate::{check_problem, problem};

async fn inputs(daemon: &TestDaemon) -> Vec<Value> {
    get(daemon, &path("s", "/inputs")).await["items"].as_array().unwrap().clone()
}

/// A session whose agent does not end its turn by itself.
async fn busy(daemon: &TestDaemon) -> Followed {
    create(daemon, "s").await;
    let mut followed = Followed::new(daemon, "s", 0).await;
    send(daemon, "s", "/hang").await;
    followed.until("turnStarted").await;
    followed
}

/// sessions-3: "a second message while a turn runs is queued … may be edited or withdrawn while queued."
#[tokio::test]
async fn what_waits_can_be_changed_and_taken_back() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut followed = busy(&daemon).await;
    let mut sent = Vec::new();
    for text in ["one", "two", "three"] {
        sent.push(send(&daemon, "s", text).await["inputId"].as_str().unwrap().to_owned());
    }
    let waiting = inputs(&daemon).await;
    let texts: Vec<_> = waiting.iter().map(|input| input["message"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(waiting[0]["author"], "user");
    let input = |at: usize| path("s", &format!("/inputs/{}", sent[at]));
    assert_eq!(daemon.put(&input(0), &json!({ "message": "ONE", "author": "ada" })).await.status(), 204);
    assert_eq!(daemon.delete(&input(1)).await.status(), 204);
    assert_eq!(get(&daemon, &path("s", "")).await["queuedInputs"], 2);
    daemon.post_text(&path("s", "/cancel"), "").await;
    let mut records = followed.until("turnEnded").await;
    for _ in 0..2 {
        records.extend(followed.until("turnEnded").await);
    }
    assert_eq!(said(&records), "ONEthree");
    let edited = of(&records, "input").into_iter().find(|receipt| receipt["state"] == "edited").unwrap();
    assert_eq!((&edited["author"], &edited["message"]), (&json!("ada"), &json!("ONE")));
    assert!(of(&records, "input").iter().any(|receipt| receipt["state"] == "withdrawn"));
    for at in [0, 1] {
        let late = daemon.put(&input(at), &json!({ "message": "too late" })).await;
        check_problem(&problem(late).await, 409, "urn:problem:input-gone");
        check_problem(&problem(daemon.delete(&input(at)).await).await, 409, "urn:problem:input-gone");
    }
    let unknown = path("s", &format!("/inputs/inp_{}", "0".repeat(32)));
    check_problem(&problem(daemon.delete(&unknown).await).await, 404, "urn:problem:input-not-found");
}

/// sessions-3: "queued, refused or steered into the turn by an explicit `whenBusy: queue|reject|steer`".
#[tokio::test]
async fn a_message_is_refused_or_steered_while_a_turn_runs() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut followed = busy(&daemon).await;
    let running = get(&daemon, &path("s", "")).await["turnId"].clone();
    let body = |text: &str, when: &str| json!({ "message": text, "whenBusy": when });
    let refused = problem(send_with(&daemon, "s", &body("no", "reject"), None).await).await;
    check_problem(&refused, 409, "urn:problem:session-busy");
    assert!(refused["detail"].as_str().unwrap().contains(running.as_str().unwrap()), "{refused}");
    let steered = send_with(&daemon, "s", &body("hurry", "steer"), None).await;
    assert_eq!(steered.status(), 202);
    let steered: Value = steered.json().await.unwrap();
    assert_eq!(steered["turnId"], running);
    let records = followed.until("turnEnded").await;
    assert_eq!((said(&records).as_str(), ended(&records)), ("hurry", "completed"));
    let receipts = of(&records, "input");
    let own: Vec<_> = receipts.iter().filter(|receipt| receipt["inputId"] == steered["inputId"]).collect();
    assert_eq!(own.last().unwrap()["state"], "consumed");
    // Without a turn there is nothing to steer or to wait for.
    assert_eq!(send_with(&daemon, "s", &body("free", "reject"), None).await.status(), 202);
}

/// sessions-3: every input "has an author, honours `Idempotency-Key`".
#[tokio::test]
async fn a_message_that_is_sent_again_is_taken_once() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let body = json!({ "message": "hello", "author": "ada" });
    let first: Value = send_with(&daemon, "s", &body, Some("k")).await.json().await.unwrap();
    let mut followed = Followed::new(&daemon, "s", 0).await;
    followed.until("turnEnded").await;
    let again = send_with(&daemon, "s", &body, Some("k")).await;
    assert_eq!(again.status(), 202);
    let again: Value = again.json().await.unwrap();
    assert_eq!((&again["inputId"], &again["turnId"]), (&first["inputId"], &first["turnId"]));
    assert_eq!(again["state"], "consumed");
    let other = send_with(&daemon, "s", &json!({ "message": "other" }), Some("k")).await;
    check_problem(&problem(other).await, 422, "urn:problem:idempotency-key-reused");
    let records = turn(&daemon, "s", "bye").await;
    assert_eq!(said(&records), "bye");
    let whole = all(&daemon, "s").await;
    let users: Vec<_> =
        of(&whole, "message").into_iter().filter(|message| message["role"] == "user").collect();
    assert_eq!((users.len(), &users[0]["author"]), (2, &json!("ada")));
    let bad = send_with(&daemon, "s", &body, Some("white space")).await;
    check_problem(&problem(bad).await, 400, "urn:problem:invalid-request");
}

/// sessions-3: "attachments (text, file, image)".
#[tokio::test]
async fn what_goes_with_a_message_is_in_the_transcript() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let attachments = json!([
        { "type": "text", "name": "note.txt", "text": "a note" },
        { "type": "file", "path": "/etc/hostname" },
        { "type": "image", "mimeType": "image/png", "data": "aGk=" },
    ]);
    let mut followed = Followed::new(&daemon, "s", 0).await;
    let sent = send_with(&daemon, "s", &json!({ "message": "look", "attachments": attachments }), None).await;
    assert_eq!(sent.status(), 202);
    let records = followed.until("turnEnded").await;
    let parts = of(&records, "message")[0]["parts"].as_array().unwrap();
    let kinds: Vec<_> = parts.iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "file", "file", "image"]);
    // What the agent was handed: each text is said back.
    assert_eq!(said(&records), "looknote.txt:a note");
}

/// Everything has a limit: the queue, and what can be sent at once.
#[tokio::test]
async fn what_is_too_much_is_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    let _followed = busy(&daemon).await;
    for at in 0..64 {
        send(&daemon, "s", &format!("message {at}")).await;
    }
    let full = send_with(&daemon, "s", &json!({ "message": "one more" }), None).await;
    assert_eq!(full.headers()["retry-after"], "1");
    check_problem(&problem(full).await, 503, "urn:problem:queue-full");
    let long = "x".repeat(17 << 20);
    let refused = send_with(&daemon, "s", &json!({ "message": long }), None).await;
    check_problem(&problem(refused).await, 413, "urn:problem:payload-too-large");
}
