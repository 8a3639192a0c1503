//! `tombolo hub tokens recover`: a new administrator's token for a user who has the files of the hub.

use std::process::Command;

use super::*;

/// `tombolo hub tokens recover` with the files of this hub, as its exit code, its output and its errors.
fn recover(directory: &std::path::Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(TOMBOLO);
    let output = command.args(["hub", "tokens", "recover", "--data-dir"]).arg(directory).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout).trim().to_owned(), text(output.stderr))
}

/// How often the audit log says that a recovered token was used for the first time.
async fn recoveries(hub: &TestHub) -> usize {
    let (_, audit) = answer(hub.request(Method::GET, "/api/audit")).await;
    let entries = audit["items"].as_array().unwrap();
    entries.iter().filter(|item| item["entry"]["action"] == "tokens.recover").count()
}

/// Issue 17: "`tombolo hub tokens recover`, local access only".
#[tokio::test]
async fn a_lost_token_is_replaced_and_the_others_stay() {
    let mut hub = TestHub::start(TOMBOLO);
    let (code, recovered, said) = recover(hub.directory());
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains(&recovered), "{said}");
    for _ in 0..2 {
        let (status, who) = answer(hub.request_as(&recovered, Method::GET, "/api/whoami")).await;
        assert_eq!((status, &who["user"]["isAdmin"]), (200, &json!(true)));
    }
    assert_eq!(answer(hub.request(Method::GET, "/api/users")).await.0, 200, "the first token is still valid");
    assert_eq!(recoveries(&hub).await, 1);
    // One that is created while the hub does not run is accepted by the next one, also by a browser.
    hub.kill_and_restart();
    let (_, second, _) = recover(hub.directory());
    let login = reqwest::Client::new().post(format!("{}/api/login", hub.base()));
    assert_eq!(login.json(&json!({ "token": second })).send().await.unwrap().status(), 200);
    assert_eq!(answer(hub.request_as(&second, Method::GET, "/api/users")).await.0, 200);
    assert_eq!(recoveries(&hub).await, 2);
    // What was revoked does not come back.
    let (_, who) = answer(hub.request_as(&recovered, Method::GET, "/api/whoami")).await;
    let path = format!("/api/tokens/{}", who["token"]["id"].as_str().unwrap());
    assert_eq!(answer(hub.request(Method::DELETE, &path)).await.0, 204);
    assert_eq!(answer(hub.request_as(&recovered, Method::GET, "/api/whoami")).await.0, 401);
    hub.kill_and_restart();
    assert_eq!(answer(hub.request_as(&recovered, Method::GET, "/api/whoami")).await.0, 401);
}

#[test]
fn without_a_hub_nothing_is_created() {
    let empty = tempfile::tempdir().unwrap();
    let (code, stdout, said) = recover(empty.path());
    assert_eq!((code, stdout.as_str()), (Some(5), ""));
    assert!(said.contains("there are no files of a hub in") && said.contains("--data-dir"), "{said}");
    assert_eq!(empty.path().read_dir().unwrap().count(), 0);
}
