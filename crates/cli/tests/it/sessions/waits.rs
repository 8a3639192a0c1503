//! What agents ask, and what people answer.

use super::*;
use crate::{check_problem, problem};
use testkit::TestDaemonOptions;

/// Sends a message that makes the agent ask; the question or permission, and the stream after it.
async fn asked(daemon: &TestDaemon, id: &str, message: &str, kind: &str) -> (Value, Followed) {
    let newest = get(daemon, &path(id, "")).await["newestSeq"].as_u64().unwrap();
    let mut followed = Followed::new(daemon, id, newest).await;
    send(daemon, id, message).await;
    let asked = followed.next_of(kind).await;
    (asked, followed)
}

fn id(asked: &Value) -> &str {
    asked["id"].as_str().unwrap()
}

/// sessions-5: "`POST …/permissions/{pid}/reply {reply: "once"|"always"|"reject"}`", and each does what it says.
#[tokio::test]
async fn a_permission_is_given_once_always_or_not() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    for (reply, chosen) in [("reject", "reject"), ("once", "allow"), ("always", "always")] {
        let (permission, mut followed) = asked(&daemon, "s", "/permission", "permissionAsked").await;
        assert_eq!(
            (&permission["kind"], &permission["input"]),
            (&json!("delete"), &json!({ "path": "build" }))
        );
        assert_eq!(permission["alwaysAllows"], json!(["Always remove"]));
        assert_eq!(followed.next_of("status").await["state"], "waiting");
        let body = json!({ "reply": reply, "author": "ada" });
        assert_eq!(answer(&daemon, "s", id(&permission), "permission", &body).await.status(), 204);
        let rest = followed.until("turnEnded").await;
        let resolved = of(&rest, "permissionResolved")[0];
        assert_eq!((&resolved["outcome"], &resolved["author"]), (&json!(reply), &json!("ada")));
        assert_eq!(said(&rest), format!("permission answered: {chosen}"));
        // What was allowed was done.
        let parts = of(&rest, "message").into_iter().flat_map(|message| message["parts"].as_array().unwrap());
        let status = parts.filter_map(|part| part["status"].as_str()).next_back().unwrap();
        assert_eq!(status, if reply == "reject" { "cancelled" } else { "completed" });
    }
    let records = turn(&daemon, "s", "/permission").await;
    assert_eq!(
        (said(&records).as_str(), of(&records, "permissionAsked").len()),
        ("permission not needed", 0)
    );
}

/// sessions-5: "`POST …/questions/{qid}/reply {answers: string[][]}`, `…/reject {}`".
#[tokio::test]
async fn a_question_is_answered_or_rejected() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let (question, mut followed) = asked(&daemon, "s", "/question", "questionAsked").await;
    let labels: Vec<_> = question["questions"][0]["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["label"])
        .collect();
    assert_eq!(labels, ["Red", "Green"]);
    assert_eq!(
        (&question["questions"][0]["allowsCustom"], &question["questions"][1]["allowsMultiple"]),
        (&json!(true), &json!(true))
    );
    for wrong in [json!([]), json!([["Red"]]), json!([["Red", "Green"], []]), json!([["Red"], ["Roof"]])] {
        let refused = answer(&daemon, "s", id(&question), "question", &json!({ "answers": wrong })).await;
        check_problem(&problem(refused).await, 400, "urn:problem:invalid-answer");
    }
    let answers = json!({ "answers": [["Green"], ["Door", "Wall"]] });
    assert_eq!(answer(&daemon, "s", id(&question), "question", &answers).await.status(), 204);
    let rest = followed.until("turnEnded").await;
    assert_eq!(of(&rest, "questionResolved")[0]["outcome"], json!({ "answered": answers["answers"] }));
    assert_eq!(said(&rest), r#"question answered: {"a_colour":"g","b_parts":["d","w"]}"#);
    let (question, mut followed) = asked(&daemon, "s", "/question", "questionAsked").await;
    assert_eq!(answer(&daemon, "s", id(&question), "reject", &json!({})).await.status(), 204);
    assert_eq!(said(&followed.until("turnEnded").await), "question answered: decline");
}

/// sessions-10: a plan is "a question with approve/reject options".
#[tokio::test]
async fn a_plan_is_approved_or_rejected() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    for (choice, chosen) in [("Approve", "approve"), ("Reject", "keep-planning")] {
        let (question, mut followed) = asked(&daemon, "s", "/approve First this", "questionAsked").await;
        assert_eq!(question["plan"], "First this");
        let answers = json!({ "answers": [[choice]] });
        assert_eq!(answer(&daemon, "s", id(&question), "question", &answers).await.status(), 204);
        assert_eq!(said(&followed.until("turnEnded").await), format!("plan answered: {chosen}"));
    }
}

/// sessions-5: "Unknown id 404, already settled 409 naming who settled it and how."
#[tokio::test]
async fn the_first_answer_holds_and_the_second_is_told_whose_it_was() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let (permission, mut followed) = asked(&daemon, "s", "/permission", "permissionAsked").await;
    let wait = id(&permission).to_owned();
    let unknown = format!("wat_{}", "0".repeat(32));
    let reply = |author: &str, reply: &str| json!({ "reply": reply, "author": author });
    let missing = answer(&daemon, "s", &unknown, "permission", &reply("ada", "once")).await;
    check_problem(&problem(missing).await, 404, "urn:problem:wait-not-found");
    let not_this_kind = answer(&daemon, "s", &wait, "question", &json!({ "answers": [] })).await;
    check_problem(&problem(not_this_kind).await, 404, "urn:problem:wait-not-found");
    let authors = ["ada", "bob", "cyd", "dan"];
    let all = authors.map(|author| {
        let (daemon, wait) = (&daemon, &wait);
        async move { answer(daemon, "s", wait, "permission", &reply(author, "once")).await }
    });
    let answers = futures_util::future::join_all(all).await;
    let winners = answers.iter().filter(|answer| answer.status() == 204).count();
    assert_eq!(winners, 1);
    let author = of(&followed.until("turnEnded").await, "permissionResolved")[0]["author"]
        .as_str()
        .unwrap()
        .to_owned();
    for late in answers.into_iter().filter(|answer| answer.status() != 204) {
        let told = problem(late).await;
        check_problem(&told, 409, "urn:problem:wait-settled");
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("by {author}")) && detail.contains("once"), "{detail}");
    }
}

/// sessions-5: "`GET /v1/waits` lists all open ones with age, session, what is asked, choices and the default on expiry".
#[tokio::test]
async fn all_that_waits_is_in_one_list() {
    let daemon = TestDaemon::start(TOMBOLO);
    assert_eq!(get(&daemon, "/v1/waits").await, json!({ "items": [], "nextCursor": null }));
    for id in ["first", "second"] {
        create(&daemon, id).await;
    }
    let (permission, _) = asked(&daemon, "first", "/permission", "permissionAsked").await;
    let (question, _) = asked(&daemon, "second", "/question", "questionAsked").await;
    // Whoever followed has left; what is asked stays.
    let waits = get(&daemon, "/v1/waits").await;
    let [one, two] = waits["items"].as_array().unwrap().as_slice() else { panic!("{waits}") };
    assert_eq!((&one["sessionId"], &one["id"]), (&json!("first"), &permission["id"]));
    assert_eq!((&one["request"]["permission"], &two["request"]["question"]), (&permission, &question));
    assert_eq!((&one["defaultAnswer"], &one["settlement"]), (&json!("reject"), &Value::Null));
    assert!(one["openedAt"].is_string() && one["expiresAt"].is_string(), "{one}");
    assert_eq!(get(&daemon, &path("first", "")).await["state"], "waiting");
    daemon.delete(&path("first", "")).await;
    assert_eq!(get(&daemon, "/v1/waits").await["items"].as_array().unwrap().len(), 1);
}

/// sessions-5, DESIGN: a wait that nobody answers is settled by its default, which is no.
#[tokio::test]
async fn what_nobody_answers_in_time_is_rejected() {
    let daemon = TestDaemonOptions::default().arg("--wait-timeout").arg("200ms").start(TOMBOLO);
    create(&daemon, "s").await;
    let records = turn(&daemon, "s", "/permission\n/question").await;
    let resolved = of(&records, "permissionResolved")[0];
    assert_eq!((&resolved["outcome"], &resolved["author"]), (&json!("expired"), &Value::Null));
    assert_eq!(of(&records, "questionResolved")[0]["outcome"], "expired");
    assert_eq!(said(&records), "permission answered: rejectquestion answered: decline");
    let forever = TestDaemonOptions::default().arg("--wait-timeout").arg("0").start(TOMBOLO);
    create(&forever, "s").await;
    asked(&forever, "s", "/permission", "permissionAsked").await;
    let waits = get(&forever, "/v1/waits").await;
    assert_eq!(waits["items"].as_array().unwrap().len(), 1);
    assert_eq!(waits["items"][0]["expiresAt"], Value::Null);
}

/// sessions-5: an interrupted turn no longer asks.
#[tokio::test]
async fn an_interrupted_turn_no_longer_asks() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let (permission, mut followed) = asked(&daemon, "s", "/permission", "permissionAsked").await;
    daemon.post_text(&path("s", "/cancel"), "").await;
    let rest = followed.until("turnEnded").await;
    assert_eq!(
        (of(&rest, "permissionResolved")[0]["outcome"].as_str(), ended(&rest)),
        (Some("withdrawn"), "interrupted")
    );
    let late = answer(&daemon, "s", id(&permission), "permission", &json!({ "reply": "once" })).await;
    check_problem(&problem(late).await, 409, "urn:problem:wait-settled");
}

/// Issue 17: "a settled wait says who answered what", also after a restart of the daemon.
#[tokio::test]
async fn one_wait_is_read_before_and_after_its_answer() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let (permission, mut followed) = asked(&daemon, "s", "/permission", "permissionAsked").await;
    let route = format!("/v1/waits/{}", id(&permission));
    followed.until("status").await;
    let open = get(&daemon, &route).await;
    assert_eq!((&open["request"]["permission"], &open["settlement"]), (&permission, &Value::Null));
    let body = json!({ "answer": { "permission": "once" }, "author": "ada" });
    let answered: Value = daemon.post(&route, &body).await.json().await.unwrap();
    assert_eq!(answered["settlement"]["author"], "ada");
    assert_eq!(get(&daemon, &route).await, answered);
    followed.until("turnEnded").await;
    daemon.kill_and_restart();
    assert_eq!(get(&daemon, &route).await, answered);
    let unknown = problem(daemon.get("/v1/waits/wat_0198c0de0198c0de0198c0de0198c0de").await).await;
    check_problem(&unknown, 404, "urn:problem:wait-not-found");
}
