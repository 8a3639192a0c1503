//! `/v1/search`: text is found in the titles and messages of all sessions.

use super::*;
use crate::{check_problem, problem};

/// The sessions and messages of a page: session id, and the text of the role or `title`.
fn hits(page: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("title").to_owned();
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| (text(&hit["sessionId"]), text(&hit["role"])))
        .collect()
}

fn named(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(session, role)| ((*session).into(), (*role).into())).collect()
}

/// Issue 17: "`sessions search`" finds titles and texts, the newest session first, and pages are complete together.
#[tokio::test]
async fn text_is_found_in_titles_and_messages_of_all_sessions() {
    let daemon = TestDaemon::start(TOMBOLO);
    assert_eq!(get(&daemon, "/v1/search?query=x").await, json!({ "items": [], "nextCursor": null }));
    create_with(&daemon, "old", &json!({ "agent": "mock", "title": "The Needle" })).await;
    create(&daemon, "new").await;
    turn(&daemon, "old", "hay\n/think needle").await;
    turn(&daemon, "new", "first\nA  NEEDLE in it").await;
    turn(&daemon, "new", "more hay").await;
    turn(&daemon, "new", "needle again").await;

    let all = get(&daemon, "/v1/search?query=needle").await;
    // The mock agent repeats what it is told. Its reasoning is not searched.
    let expected = [
        ("new", "user"),
        ("new", "assistant"),
        ("new", "user"),
        ("new", "assistant"),
        ("old", "title"),
        ("old", "user"),
    ];
    assert_eq!(hits(&all), named(&expected), "{all:#}");
    assert_eq!(all["nextCursor"], Value::Null);
    assert_eq!(hits(&get(&daemon, "/v1/search?query=a%20needle%20IN").await).len(), 2);
    assert_eq!(hits(&get(&daemon, "/v1/search?query=needle%20hay").await).len(), 0);

    let hit = &all["items"][0];
    let messages = get(&daemon, &path("new", "/messages")).await;
    let message =
        messages["items"].as_array().unwrap().iter().find(|message| message["id"] == hit["messageId"]);
    let message = message.unwrap();
    assert_eq!((&hit["createdAt"], &hit["role"]), (&message["createdAt"], &message["role"]));
    assert_eq!(hit["snippet"], "first A NEEDLE in it");

    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(&daemon, &format!("/v1/search?query=needle&limit=1&cursor={cursor}")).await;
        assert!(hits(&page).len() <= 1, "{page:#}");
        paged.extend(page["items"].as_array().unwrap().clone());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(json!(paged), all["items"]);
}

/// Messages of a turn that still runs are found too.
#[tokio::test]
async fn a_running_turn_is_searched() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "found while it runs\n/hang").await;
    followed.until("messageDelta").await;
    let page = get(&daemon, "/v1/search?query=while%20it%20runs").await;
    assert!(hits(&page).contains(&("s".into(), "user".into())), "{page:#}");
}

#[tokio::test]
async fn a_search_that_makes_no_sense_is_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    let long = "x".repeat(201);
    for query in [
        "",
        "query=",
        "query=%20",
        &format!("query={long}"),
        "query=x&limit=0",
        "query=x&limit=101",
        "query=x&cursor=y",
        "query=x&other=1",
    ] {
        let refused = problem(daemon.get(&format!("/v1/search?{query}")).await).await;
        check_problem(&refused, 400, "urn:problem:invalid-request");
    }
}
