//! Nobody speaks as somebody else.

use super::*;

/// What is done through the hub carries the name of who did it, whatever they say in the body or in a header.
#[tokio::test]
async fn a_forged_author_has_no_effect() {
    let (daemon, hub) = both().await;
    let ada = Person::somebody_else(&hub, "ada").await;
    create(&daemon, "s").await;
    let mut listener = ada.listen().await;
    listener.next().await;
    let at = |path: &str| format!("/api/runtimes/box/v1/sessions/s{path}");
    let forged = |path: &str, body: Value| {
        ada.request(Method::POST, path).header("tombolo-author", "mallory").json(&body).send()
    };
    let message = json!({ "message": "/permission\n/permission", "author": "mallory" });
    assert_eq!(forged(&at("/messages"), message).await.unwrap().status(), 202);
    for through_the_inbox in [false, true] {
        let opened = listener.until("opened").await;
        let wait = opened["wait"]["id"].as_str().unwrap();
        let (path, body) = match through_the_inbox {
            false => {
                (at(&format!("/permissions/{wait}/reply")), json!({ "reply": "once", "author": "mallory" }))
            }
            true => (
                format!("/api/waits/box/{wait}"),
                json!({ "answer": { "permission": "once" }, "author": "mallory" }),
            ),
        };
        assert!(forged(&path, body).await.unwrap().status().is_success());
        let settled = listener.until("settled").await;
        assert_eq!(settled["wait"]["settlement"]["author"], "ada");
    }
    let told = serde_json::to_string(&events(&daemon, "s").await).unwrap();
    assert!(told.contains(r#""author":"ada""#) && !told.contains("mallory"), "{told}");
}
