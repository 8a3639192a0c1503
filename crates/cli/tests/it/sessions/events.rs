//! What happens in a session, as it is told.

use super::*;
use crate::{check_problem, problem};

/// sessions-3: "`202` with `{turnId}` … Every input is a row with a receipt (`accepted → delivered → consumed …`, as
/// events)". sessions-8: "Every record: `{seq, id, time, sessionId, agent, agentSessionId?, event, …}`".
#[tokio::test]
async fn a_turn_is_told_from_its_first_word_to_its_last() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    let sent = send(&daemon, "s", "/chunks 3").await;
    let records = followed.until("turnEnded").await;
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], at as u64 + 1);
        assert_eq!((&record["sessionId"], &record["agent"]), (&json!("s"), &json!("mock")));
        assert!(record["id"].as_str().unwrap().starts_with("evt_") && record["time"].is_string(), "{record}");
    }
    let receipts = of(&records, "input");
    let states: Vec<_> = receipts.iter().map(|receipt| receipt["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["accepted", "delivered", "consumed"]);
    assert!(receipts.iter().all(|receipt| receipt["inputId"] == sent["inputId"]));
    assert_eq!(of(&records, "turnStarted")[0]["turnId"], sent["turnId"]);
    assert_eq!(said(&records), "chunk 1 chunk 2 chunk 3 ");
    assert_eq!((ended(&records), of(&records, "started").len()), ("completed", 1));
}

/// sessions-8, sessions-9: thoughts, tools with their results, changes with their diffs, plans and commands.
#[tokio::test]
async fn everything_that_an_agent_does_has_its_event() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let records = turn(&daemon, "s", "/think hm\n/tool\n/edit\n/plan\n/commands\ndone").await;
    let messages = of(&records, "message");
    let parts: Vec<_> = messages.iter().flat_map(|message| message["parts"].as_array().unwrap()).collect();
    let part = |kind: &str| parts.iter().rev().find(|part| part["type"] == kind).unwrap();
    assert_eq!(part("reasoning")["text"], "hm");
    assert_eq!(
        (&part("toolCall")["kind"], &part("toolCall")["status"]),
        (&json!("edit"), &json!("completed"))
    );
    let diff = &part("toolResult")["diffs"][0];
    assert_eq!(
        (&diff["path"], &diff["newText"]),
        (&json!("greeting.txt"), &json!("Hello\nnew friend\nbye\n"))
    );
    assert_eq!(of(&records, "plan")[0]["steps"][1], json!({ "text": "Change it", "state": "inProgress" }));
    assert_eq!(of(&records, "commandsUpdated")[0]["commands"][0]["name"], "review");
}

/// sessions-9: "the special *unparsed* part that carries the raw JSON and the error: nothing an agent says is dropped."
#[tokio::test]
async fn what_is_not_understood_is_not_dropped() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let records = turn(&daemon, "s", "/garbage\nstill here").await;
    let messages = of(&records, "message");
    let unparsed: Vec<_> = messages
        .iter()
        .flat_map(|message| message["parts"].as_array().unwrap())
        .filter(|part| part["type"] == "unparsed")
        .collect();
    assert_eq!(unparsed.len(), 5, "{unparsed:?}");
    assert_eq!((&unparsed[0]["raw"], &unparsed[1]["raw"]), (&json!("this is not JSON"), &json!(42)));
    assert!(unparsed.iter().all(|part| !part["error"].as_str().unwrap().is_empty()));
    assert_eq!((said(&records).as_str(), ended(&records)), ("still here", "completed"));
}

/// sessions-4: "`GET …/events?offset=&limit=` → `{events, hasMore}`; `GET …/events/sse?offset=` the same live.
/// `Last-Event-ID` works too".
#[tokio::test]
async fn pages_and_the_stream_tell_the_same() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    turn(&daemon, "s", "/chunks 5").await;
    let whole = all(&daemon, "s").await;
    let newest = whole.len() as u64;
    let (mut paged, mut offset, mut more) = (Vec::new(), 0, true);
    while more {
        let page = get(&daemon, &path("s", &format!("/events?offset={offset}&limit=4"))).await;
        paged.extend(page["events"].as_array().unwrap().clone());
        more = page["hasMore"].as_bool().unwrap();
        offset = paged.len();
    }
    assert_eq!(paged, whole);
    let mut followed = Followed::new(&daemon, "s", 3).await;
    for expected in &whole[3..] {
        assert_eq!(followed.next().await.as_ref(), Some(expected));
    }
    let request = daemon.request(Method::GET, &path("s", "/events/sse?offset=1"));
    let resumed = request.header("last-event-id", newest - 1).send().await.unwrap();
    let mut resumed = Followed(EventStream::new(resumed));
    assert_eq!(resumed.next().await.as_ref(), whole.last());
    turn(&daemon, "s", "more").await;
    assert_eq!(followed.next().await.unwrap()["seq"], newest + 1);
    assert_eq!(resumed.next().await.unwrap()["seq"], newest + 1);
}

/// sessions-4: "`includeRaw=true` adds the agent's own payload."
#[tokio::test]
async fn the_agents_own_words_are_told_to_whoever_asks() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    turn(&daemon, "s", "hello").await;
    let raw = get(&daemon, &path("s", "/events?includeRaw=true")).await;
    let delta = |events: &Value| {
        let events = events.as_array().unwrap();
        events.iter().find(|record| record["event"].get("messageDelta").is_some()).unwrap().clone()
    };
    let plain = get(&daemon, &path("s", "/events")).await;
    assert_eq!(delta(&plain["events"]).get("raw"), None);
    let words = all_raw(&raw["events"]);
    assert!(words.iter().any(|raw| raw["params"]["update"]["content"]["text"] == "hello"), "{words:?}");
    let mut events = EventStream::new(daemon.get(&path("s", "/events/sse?includeRaw=true")).await);
    for expected in raw["events"].as_array().unwrap() {
        let event = within(secs(20), events.next()).await.unwrap();
        assert_eq!(&serde_json::from_str::<Value>(&event.data).unwrap(), expected);
    }
}

fn all_raw(events: &Value) -> Vec<&Value> {
    events.as_array().unwrap().iter().filter_map(|record| record.get("raw")).collect()
}

/// sessions-4: what was never there is told as a gap, and then everything that there is.
#[tokio::test]
async fn a_place_that_was_never_there_is_a_gap() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut events = EventStream::new(daemon.get(&path("s", "/events/sse?offset=1000")).await);
    let gap = within(secs(20), events.next()).await.unwrap();
    assert_eq!((gap.event.as_str(), gap.id), ("gap", None));
    let first = within(secs(20), events.next()).await.unwrap();
    assert_eq!(first.id, Some(1));
    let page = get(&daemon, &path("s", "/events?offset=1000")).await;
    assert_eq!(page, json!({ "events": [], "hasMore": false }));
    for query in ["?limit=0", "?limit=1001", "?offset=-1", "?includeRaw=maybe"] {
        let refused = problem(daemon.get(&path("s", &format!("/events{query}"))).await).await;
        check_problem(&refused, 400, "urn:problem:invalid-request");
    }
    let missing = problem(daemon.get(&path("none", "/events/sse")).await).await;
    check_problem(&missing, 404, "urn:problem:session-not-found");
}

/// sessions-12: "snapshot + later events = full replay."
#[tokio::test]
async fn a_snapshot_and_what_comes_after_it_are_everything() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    turn(&daemon, "s", "one\n/tool").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "half\n/permission").await;
    let asked = followed.next_of("permissionAsked").await;
    let snapshot = get(&daemon, &path("s", "/snapshot")).await;
    assert_eq!(
        (&snapshot["waits"][0]["id"], &snapshot["session"]["state"]),
        (&asked["id"], &json!("waiting"))
    );
    let (wait, once) = (asked["id"].as_str().unwrap(), json!({ "reply": "once" }));
    assert_eq!(answer(&daemon, "s", wait, "permission", &once).await.status(), 204);
    followed.until("turnEnded").await;
    let messages = serde_json::from_value(snapshot["messages"].clone()).unwrap();
    let mut short = protocol::Transcript::resume(messages, snapshot["seq"].as_u64().unwrap());
    let mut long = protocol::Transcript::default();
    for record in all(&daemon, "s").await {
        let record: protocol::EventRecord = serde_json::from_value(record).unwrap();
        short.apply(&record);
        long.apply(&record);
    }
    assert_eq!(short.messages(), long.messages());
    assert_eq!(short.seq(), long.seq());
}

/// A client that accepts no server-sent events is told so, before anything else of its request is looked at.
#[tokio::test]
async fn a_stream_is_refused_to_a_client_that_does_not_accept_it() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    for path in [path("s", "/events/sse"), "/v1/waits/events".into(), "/v1/acp/missing".into()] {
        let refused =
            daemon.request(Method::GET, &path).header("accept", "application/json").send().await.unwrap();
        check_problem(&problem(refused).await, 406, "urn:problem:not-acceptable");
    }
    for accept in ["text/event-stream", "application/json, text/*;q=0.5", "*/*"] {
        let request = daemon.request(Method::GET, &path("s", "/events/sse")).header("accept", accept);
        assert_eq!(request.send().await.unwrap().status(), 200, "{accept}");
    }
}
