//! Who is there for a session.

use super::*;

/// Who watches, on how many sockets, and who drives: asked for, and told to those who watch as it changes.
#[tokio::test]
async fn who_watches_and_who_drives_is_told() {
    let (daemon, hub) = both().await;
    let ada = Person::somebody_else(&hub, "ada").await;
    let owner = Person::owner(&hub);
    create(&daemon, "s").await;
    let path = "/api/runtimes/box/workers/s/presence";
    assert_eq!(owner.get(path).await, json!({ "watchers": [], "drivers": [] }));
    let mut first = Viewer::try_as(&hub, &owner.token, "s").await.unwrap();
    assert_eq!(watching(&first.presence().await), [("owner".to_owned(), 1)]);
    let (mut again, mut theirs) = (
        Viewer::try_as(&hub, &owner.token, "s").await.unwrap(),
        Viewer::try_as(&hub, &ada.token, "s").await.unwrap(),
    );
    // They are counted before they are told anything.
    again.presence().await;
    theirs.presence().await;
    let both = [("ada".to_owned(), 1), ("owner".to_owned(), 2)];
    assert_eq!(watching(&ada.get(path).await), both);
    within(secs(20), async { while watching(&first.presence().await) != both {} }).await;
    // Who only looks does not drive, nor does who is refused.
    ada.get("/api/runtimes/box/v1/sessions/s").await;
    let refused = owner.post("/api/runtimes/box/v1/sessions/s/messages", &json!({})).await;
    assert_eq!(refused.status(), 400);
    assert_eq!(ada.get(path).await["drivers"], json!([]));
    let sent = ada.post("/api/runtimes/box/v1/sessions/s/messages", &json!({ "message": "hello" })).await;
    assert_eq!(sent.status(), 202);
    let drivers = ada.get(path).await["drivers"].clone();
    assert_eq!((drivers.as_array().unwrap().len(), &drivers[0]["user"]), (1, &json!("ada")));
    within(secs(20), async { while first.presence().await["drivers"] != drivers {} }).await;
    // Events come in order all the same.
    first.until_event("snapshot").await;
    let seen = first.until_event("turnEnded").await;
    let payloads: Vec<_> = seen.iter().map(|envelope| envelope["payload"].clone()).collect();
    let told = events(&daemon, "s").await;
    let end = told.iter().position(|event| event.get("turnEnded").is_some()).unwrap();
    assert_eq!(payloads, told[end + 1 - seen.len()..=end]);
    drop((again, theirs));
    let left = [("owner".to_owned(), 1)];
    within(secs(20), async { while watching(&owner.get(path).await) != left {} }).await;
}

fn watching(presence: &Value) -> Vec<(String, u64)> {
    let each = presence["watchers"].as_array().unwrap().iter();
    each.map(|watcher| (watcher["user"].as_str().unwrap().to_owned(), watcher["sockets"].as_u64().unwrap()))
        .collect()
}
