//! What waits in all runtimes, in one place. DESIGN "Second idea: a wait".

use std::collections::BTreeSet;

use super::{wire::Wire, *};
use crate::{asker::asker, check_problem, problem};

/// Two daemons, and a hub that knows them as `box` and `den`.
async fn three() -> (TestDaemon, TestDaemon, TestHub) {
    let (daemon, hub) = both().await;
    let other = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    hub.add_runtime("den", other.base(), Some(TOKEN)).await;
    (daemon, other, hub)
}

fn wait(event: &Value) -> (&str, &str, &str) {
    let wait = &event["wait"];
    let text = |key: &str| wait[key].as_str().unwrap();
    (text("runtimeId"), text("sessionId"), text("id"))
}

/// The inbox has the waits of all runtimes, the oldest first; of two who answer at once one wins, and all are told who.
#[tokio::test]
async fn two_people_share_an_inbox() {
    let (daemon, other, hub) = three().await;
    let ada = Person::somebody_else(&hub, "ada").await;
    let owner = Person::owner(&hub);
    let mut listeners = [owner.listen().await, ada.listen().await];
    for listener in &mut listeners {
        let empty = json!({ "type": "snapshot", "waits": [], "unavailableRuntimes": [] });
        assert_eq!(listener.next().await, empty);
    }
    let mut opened = Vec::new();
    for (daemon, session) in [(&other, "one"), (&daemon, "two"), (&other, "three")] {
        create(daemon, session).await;
        send(daemon, session, "/permission").await;
        let [mine, theirs] = &mut listeners;
        let event = mine.until("opened").await;
        assert_eq!(theirs.until("opened").await, event);
        opened.push(event["wait"].clone());
    }
    let inbox = ada.get("/api/waits").await;
    assert_eq!(inbox, json!({ "items": opened, "unavailableRuntimes": [], "nextCursor": null }));
    let places: Vec<_> = opened.iter().map(|wait| (&wait["runtimeId"], &wait["sessionId"])).collect();
    assert_eq!(
        places,
        [("den", "one"), ("box", "two"), ("den", "three")]
            .map(|(runtime, session)| (json!(runtime), json!(session)))
            .iter()
            .map(|(runtime, session)| (runtime, session))
            .collect::<Vec<_>>()
    );
    for asked in &opened {
        let path =
            format!("/api/waits/{}/{}", asked["runtimeId"].as_str().unwrap(), asked["id"].as_str().unwrap());
        let body = json!({ "answer": { "permission": "once" } });
        let (mine, theirs) = tokio::join!(owner.post(&path, &body), ada.post(&path, &body));
        let (winner, loser) = match mine.status().as_u16() {
            200 => (&owner.name, theirs),
            _ => (&ada.name, mine),
        };
        let told = problem(loser).await;
        check_problem(&told, 409, "urn:problem:wait-settled");
        assert!(told["detail"].as_str().unwrap().contains(&format!("by {winner}")), "{told}");
        for listener in &mut listeners {
            let settled = listener.until("settled").await;
            assert_eq!(settled["wait"]["id"], asked["id"]);
            let how = &settled["wait"]["settlement"];
            assert_eq!((&how["author"], &how["outcome"]), (&json!(winner), &json!({ "permission": "once" })));
        }
    }
    assert_eq!(owner.get("/api/waits").await["items"], json!([]));
}

/// A runtime that is away is named and not waited for; who listens is told when it goes and what waits when it is back.
#[tokio::test]
async fn a_runtime_that_is_away_is_named() {
    let (daemon, hub) = both().await;
    let owner = Person::owner(&hub);
    let wire = Wire::to(daemon.base()).await;
    hub.add_runtime("wired", &wire.base, Some(TOKEN)).await;
    hub.request(Method::DELETE, "/api/runtimes/box").send().await.unwrap();
    hub.add_runtime("down", "http://127.0.0.1:9", None).await;
    // Connections are taken by the system, and nobody ever answers.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    hub.add_runtime("silent", &format!("http://{}", silent.local_addr().unwrap()), None).await;
    create(&daemon, "s").await;
    send(&daemon, "s", "/permission").await;
    let mut listener = owner.listen().await;
    let first = listener.next().await;
    assert_eq!(first["unavailableRuntimes"], json!(["down", "silent"]));
    let asked = match first["waits"].as_array().unwrap().first() {
        Some(wait) => wait.clone(),
        None => listener.until("opened").await["wait"].clone(),
    };
    let inbox = within(secs(20), owner.get("/api/waits")).await;
    assert_eq!(
        (&inbox["items"], &inbox["unavailableRuntimes"]),
        (&json!([asked]), &json!(["down", "silent"]))
    );
    wire.set_down(true);
    let gone = listener.until("unavailable").await;
    assert_eq!(gone, json!({ "type": "unavailable", "runtimeId": "wired" }));
    let inbox = owner.get("/api/waits").await;
    assert_eq!(
        (&inbox["items"], &inbox["unavailableRuntimes"]),
        (&json!([]), &json!(["down", "silent", "wired"]))
    );
    let refused = owner
        .post(&format!("/api/waits/wired/{}", asked["id"].as_str().unwrap()), &json!({ "answer": "reject" }))
        .await;
    check_problem(&problem(refused).await, 502, "urn:problem:runtime-unavailable");
    wire.set_down(false);
    let back = listener.until("available").await;
    assert_eq!(back, json!({ "type": "available", "runtimeId": "wired", "waits": [asked] }));
    // One that is added while somebody listens is listened to.
    hub.add_runtime("again", daemon.base(), Some(TOKEN)).await;
    assert_eq!(listener.next().await, json!({ "type": "unavailable", "runtimeId": "again" }));
    let added = listener.until("available").await;
    assert_eq!((&added["runtimeId"], &added["waits"][0]["id"]), (&json!("again"), &asked["id"]));
    hub.request(Method::DELETE, "/api/runtimes/again").send().await.unwrap();
    let removed = listener.until("unavailable").await;
    assert_eq!(removed["runtimeId"], "again");
}

/// Whoever comes while much is asked misses nothing and is told nothing twice.
#[tokio::test]
async fn who_comes_in_the_middle_misses_nothing() {
    const WAITS: usize = 200;
    let daemon = asker(WAITS).env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    ask(&daemon, Method::POST, "/v1/sessions/s", Some(json!({ "agent": "asker" }))).await;
    let owner = Person::owner(&hub);
    let mut first = owner.listen().await;
    first.next().await;
    send(&daemon, "s", "ask").await;
    let (mut late, mut opened) = (Vec::new(), Vec::new());
    while opened.len() < WAITS {
        let event = first.next().await;
        assert_eq!(event["type"], "opened");
        opened.push(wait(&event).2.to_owned());
        if opened.len().is_multiple_of(20) {
            late.push(owner.listen().await);
        }
    }
    assert_eq!(opened.iter().collect::<BTreeSet<_>>().len(), WAITS);
    for listener in &mut late {
        let snapshot = listener.next().await;
        let known = snapshot["waits"].as_array().unwrap().iter();
        let mut known: Vec<_> = known.map(|wait| wait["id"].as_str().unwrap().to_owned()).collect();
        while known.len() < WAITS {
            let event = listener.next().await;
            assert_eq!(event["type"], "opened");
            known.push(wait(&event).2.to_owned());
        }
        assert_eq!(known, opened);
    }
}

/// What waits is listed, followed and answered on the command line: through a hub, or without one.
#[tokio::test]
async fn the_inbox_on_the_command_line() {
    let (daemon, other, hub) = three().await;
    let tombolo = |args: &[&str]| {
        let mut command = std::process::Command::new(TOMBOLO);
        command.arg("waits").args(args).env_remove("TOMBOLO_ENDPOINT").env("TOMBOLO_TOKEN", TOKEN);
        command.env("TOMBOLO_HUB", hub.base()).env("TOMBOLO_HUB_TOKEN", hub.token());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let mut listener = Person::owner(&hub).listen().await;
    listener.next().await;
    let mut waits = Vec::new();
    for (daemon, session, message) in
        [(&daemon, "p", "/permission"), (&other, "q", "/question"), (&daemon, "r", "/approve First this")]
    {
        create(daemon, session).await;
        send(daemon, session, message).await;
        waits.push(wait(&listener.until("opened").await).2.to_owned());
    }
    let (code, said, _) = tombolo(&[]);
    let lines: Vec<_> = said.lines().collect();
    assert!(code == Some(0) && lines.len() == 4, "{said}");
    for (line, (place, what)) in lines[1..].iter().zip([
        ("box", "Remove everything"),
        ("den", "Some questions"),
        ("box", "First this"),
    ]) {
        assert!(line.contains(place) && line.contains(what), "{line}");
    }
    for wrong in
        [&["answer", "wat_", "allow"][..], &["answer", "nothing", "allow"], &["answer", &waits[0], "perhaps"]]
    {
        let (code, _, told) = tombolo(wrong);
        assert_eq!(code, Some(2), "{told}");
    }
    // Its end is enough, as nobody else has it.
    let short = &waits[0][waits[0].len() - 8..];
    let (code, said, told) = tombolo(&["answer", short, "allow"]);
    assert!(code == Some(0) && said.contains("by owner: allow once"), "{said}{told}");
    // The list shows only the beginning of a form, so it must be read before it is answered.
    let (_, shown, _) = tombolo(&["show", &waits[1]]);
    assert!(shown.contains("Which colour") && shown.contains("Which parts"), "{shown}");
    let (_, seen) = shown.split_once("--seen ").unwrap();
    let seen = seen.split_whitespace().next().unwrap();
    let (_, said, _) = tombolo(&["answer", &waits[1], "red", "door,wall", "--seen", seen]);
    assert!(said.contains(r#"by owner: {"answered":[["Red"],["Door","Wall"]]}"#), "{said}");
    // Without a hub.
    let daemon_only =
        ["answer", &waits[2], "approve", "--author", "ada", "--hub", "", "--endpoint", daemon.base()];
    let (code, said, told) = tombolo(&daemon_only);
    assert!(code == Some(0) && said.contains("by ada"), "{said}{told}");
    for (wait, by) in waits.iter().zip(["owner", "owner", "ada"]) {
        let settled = listener.until("settled").await;
        assert_eq!(
            (&settled["wait"]["id"], &settled["wait"]["settlement"]["author"]),
            (&json!(wait), &json!(by))
        );
    }
    // Issue 17: "a settled wait says who answered what", through a hub too.
    for (wait, by) in waits.iter().zip(["owner: allow once", "owner: {\"answered\"", "ada: {\"answered\""]) {
        let (code, _, told) = tombolo(&["answer", wait, "deny"]);
        assert!(code == Some(1) && told.contains(&format!("already answered by {by}")), "{told}");
        let (code, shown, _) = tombolo(&["show", wait]);
        assert!(code == Some(0) && shown.contains(&format!("by {by}")), "{shown}");
    }
    let (_, _, told) = tombolo(&["answer", short, "allow"]);
    assert!(told.contains("no open wait has the id"), "{told}");
}

/// What waits in a workspace is told to those who see it at that moment, and to nobody once they are no longer let in.
/// observation-22, observation-49
#[tokio::test]
async fn the_inbox_has_what_somebody_sees() {
    let (daemon, hub) = both().await;
    let other = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    hub.add_runtime_to("lab", "den", other.base(), Some(TOKEN)).await;
    somebody(&hub, "ada", json!({ "roles": { "default": "viewer" } })).await;
    let (id, secret) = token(&hub, json!({ "name": "inbox", "user": "ada" })).await;
    let ada = Person::new(&hub, "ada", &secret);
    let (mut all, mut hers) = (Person::owner(&hub).listen().await, ada.listen().await);
    hers.next().await;
    let mut opened = Vec::new();
    for (daemon, session) in [(&other, "hidden"), (&daemon, "shown")] {
        create(daemon, session).await;
        send(daemon, session, "/permission").await;
        opened.push(all.until("opened").await["wait"].clone());
    }
    assert_eq!(hers.next().await, json!({ "type": "opened", "wait": opened[1] }));
    assert_eq!(ada.get("/api/waits").await["items"], json!([opened[1]]));
    // Who manages the hub has no part in a workspace by that.
    let eve = Person::new(&hub, "eve", &somebody(&hub, "eve", json!({ "isAdmin": true })).await);
    assert_eq!(eve.get("/api/waits").await["items"], json!([]));
    assert_eq!(eve.listen().await.next().await["waits"], json!([]));
    let one = |wait: &Value| format!("/api/waits/{}", wait["id"].as_str().unwrap());
    assert_eq!(ada.get(&one(&opened[1])).await, opened[1]);
    for person in [&ada, &eve] {
        let hidden = person.request(Method::GET, &one(&opened[0])).send().await.unwrap();
        check_problem(&problem(hidden).await, 404, "urn:problem:wait-not-found");
    }
    let reject = json!({ "answer": "reject" });
    for (wait, status) in [(&opened[0], 404), (&opened[1], 403)] {
        let (runtime, id) = (wait["runtimeId"].as_str().unwrap(), wait["id"].as_str().unwrap());
        let refused = ada.post(&format!("/api/waits/{runtime}/{id}"), &reject).await;
        assert_eq!(refused.status(), status, "{runtime}");
    }
    for (roles, seen) in [
        (json!({ "default": "viewer", "lab": "viewer" }), &opened[..]),
        (json!({ "lab": "viewer" }), &opened[..1]),
    ] {
        answer(hub.request(Method::PUT, "/api/users/ada").json(&json!({ "roles": roles }))).await;
        assert_eq!(
            hers.next().await,
            json!({ "type": "snapshot", "waits": seen, "unavailableRuntimes": [] })
        );
    }
    answer(hub.request(Method::DELETE, &format!("/api/tokens/{id}"))).await;
    hers.ends().await;
}
