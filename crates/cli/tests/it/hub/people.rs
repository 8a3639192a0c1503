//! Users and tokens.

use super::*;
use crate::{check_problem, problem};

/// Whoever manages the hub manages everybody; somebody always does.
#[tokio::test]
async fn somebody_always_manages_the_hub() {
    let hub = TestHub::start(TOMBOLO);
    let (_, who) = answer(hub.request(Method::GET, "/api/whoami")).await;
    assert_eq!((&who["user"]["name"], &who["user"]["isAdmin"]), (&json!("owner"), &json!(true)));
    assert_eq!((&who["user"]["defaultRole"], &who["token"]["scope"]), (&json!("owner"), &Value::Null));
    let less = json!({ "everywhere": "owner" });
    for request in [
        hub.request(Method::DELETE, "/api/users/owner"),
        hub.request(Method::PUT, "/api/users/owner").json(&less),
    ] {
        check_problem(&problem(request.send().await.unwrap()).await, 409, "urn:problem:last-admin");
    }
    let second = somebody(&hub, "second", json!({ "isAdmin": true })).await;
    assert_eq!(answer(hub.request(Method::PUT, "/api/users/owner").json(&less)).await.0, 200);
    assert_eq!(answer(hub.request(Method::GET, "/api/users")).await.0, 403, "at once");
    assert_eq!(answer(hub.request_as(&second, Method::DELETE, "/api/users/owner")).await.0, 204);
    assert_eq!(answer(hub.request(Method::GET, "/api/whoami")).await.0, 401);
    let last = hub.request_as(&second, Method::DELETE, "/api/users/second").send().await.unwrap();
    check_problem(&problem(last).await, 409, "urn:problem:last-admin");
}

/// Only who manages the hub manages it; everybody has their own tokens.
#[tokio::test]
async fn the_rest_have_what_is_theirs() {
    let hub = TestHub::start(TOMBOLO);
    let ana = somebody(&hub, "ana", json!({ "everywhere": "owner" })).await;
    let add = json!({ "id": "x", "endpoint": "http://127.0.0.1:9" });
    for request in [
        hub.request_as(&ana, Method::GET, "/api/users"),
        hub.request_as(&ana, Method::GET, "/api/users/ana"),
        hub.request_as(&ana, Method::POST, "/api/users").json(&json!({ "name": "bob" })),
        hub.request_as(&ana, Method::PUT, "/api/users/ana").json(&json!({ "isAdmin": true })),
        hub.request_as(&ana, Method::DELETE, "/api/users/owner"),
        hub.request_as(&ana, Method::POST, "/api/runtimes").json(&add),
        hub.request_as(&ana, Method::DELETE, "/api/runtimes/x"),
        hub.request_as(&ana, Method::GET, "/api/audit"),
        hub.request_as(&ana, Method::GET, "/api/tokens?user=owner"),
        hub.request_as(&ana, Method::POST, "/api/tokens").json(&json!({ "name": "t", "user": "owner" })),
    ] {
        check_problem(&problem(request.send().await.unwrap()).await, 403, "urn:problem:forbidden");
    }
    let (_, owners) = answer(hub.request(Method::GET, "/api/tokens")).await;
    assert_eq!(owners["items"].as_array().unwrap().len(), 1);
    let path = format!("/api/tokens/{}", owners["items"][0]["id"].as_str().unwrap());
    let theirs = hub.request_as(&ana, Method::DELETE, &path).send().await.unwrap();
    check_problem(&problem(theirs).await, 404, "urn:problem:token-not-found");
    let (status, mine) =
        answer(hub.request_as(&ana, Method::POST, "/api/tokens").json(&json!({ "name": "mine" }))).await;
    assert_eq!((status, &mine["token"]["user"]), (201, &json!("ana")));
    let path = format!("/api/tokens/{}", mine["token"]["id"].as_str().unwrap());
    assert_eq!(answer(hub.request_as(&ana, Method::DELETE, &path)).await.0, 204);
    let (_, list) = answer(hub.request(Method::GET, "/api/tokens?user=ana")).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

/// What cannot be done is told, and changes nothing.
#[tokio::test]
async fn what_cannot_be_done_is_told() {
    let hub = TestHub::start(TOMBOLO);
    somebody(&hub, "ana", json!({})).await;
    let before = std::fs::read(hub.directory().join("people.json")).unwrap();
    let unknown = "/api/tokens/tok_0198c0de0198c0de0198c0de0198c0de";
    for (request, status, kind) in [
        (hub.request(Method::POST, "/api/users").json(&json!({ "name": "ana" })), 409, "user-taken"),
        (hub.request(Method::POST, "/api/users").json(&json!({ "name": "../x" })), 400, "invalid-request"),
        (
            hub.request(Method::POST, "/api/users").json(&json!({ "name": "x", "roles": { "a": "king" } })),
            400,
            "invalid-request",
        ),
        (hub.request(Method::PUT, "/api/users/bob").json(&json!({})), 404, "user-not-found"),
        (hub.request(Method::GET, "/api/users/bob"), 404, "user-not-found"),
        (hub.request(Method::DELETE, "/api/users/bob"), 404, "user-not-found"),
        (hub.request(Method::GET, "/api/tokens?user=bob"), 404, "user-not-found"),
        (
            hub.request(Method::POST, "/api/tokens").json(&json!({ "name": "t", "user": "bob" })),
            404,
            "user-not-found",
        ),
        (hub.request(Method::POST, "/api/tokens").json(&json!({ "name": "" })), 400, "invalid-request"),
        (hub.request(Method::DELETE, unknown), 404, "token-not-found"),
        (hub.request(Method::DELETE, "/api/tokens/tok_x"), 400, "invalid-request"),
        (hub.request(Method::GET, "/api/audit?limit=0"), 400, "invalid-request"),
    ] {
        let refused = problem(request.send().await.unwrap()).await;
        check_problem(&refused, status, &format!("urn:problem:{kind}"));
    }
    assert_eq!(std::fs::read(hub.directory().join("people.json")).unwrap(), before);
}

/// Who has lost the last token to manage the hub with gets one when it starts again.
#[tokio::test]
async fn nobody_is_locked_out_for_ever() {
    let mut hub = TestHub::start(TOMBOLO);
    let (_, who) = answer(hub.request(Method::GET, "/api/whoami")).await;
    let path = format!("/api/tokens/{}", who["token"]["id"].as_str().unwrap());
    assert_eq!(answer(hub.request(Method::DELETE, &path)).await.0, 204);
    hub.kill_and_restart_with_new_token();
    let (_, again) = answer(hub.request(Method::GET, "/api/whoami")).await;
    assert_eq!(again["user"], who["user"]);
    assert_ne!(again["token"]["id"], who["token"]["id"]);
}

/// The commands do what the API does; a secret can be had alone.
#[tokio::test]
async fn people_are_managed_on_the_command_line() {
    let hub = TestHub::start(TOMBOLO);
    let tombolo = |token: &str, args: &[&str]| {
        let mut command = std::process::Command::new(TOMBOLO);
        command.arg("hub").args(args).env("TOMBOLO_HUB", hub.base()).env("TOMBOLO_HUB_TOKEN", token);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let ours = |args: &[&str]| {
        let (code, said, told) = tombolo(hub.token(), args);
        assert_eq!(code, Some(0), "{args:?}: {told}");
        said + &told
    };
    let said = ours(&["users", "add", "ana", "--role", "lab=controller", "--role", "default=viewer"]);
    assert!(said.contains("default=viewer lab=controller"), "{said}");
    assert!(ours(&["users", "list"]).contains("owner"));
    assert!(ours(&["users", "set", "ana", "--everywhere", "viewer"]).contains("viewer"));
    assert!(!ours(&["users", "get", "ana"]).contains("lab=controller"));
    let (_, secret, told) = tombolo(
        hub.token(),
        &[
            "tokens",
            "add",
            "ci",
            "--user",
            "ana",
            "--role",
            "viewer",
            "--workspace",
            "lab",
            "--expires-in",
            "2d",
            "--quiet",
        ],
    );
    assert!(
        secret.starts_with("tombolo_") && secret.lines().count() == 1 && told.is_empty(),
        "{secret}{told}"
    );
    let (_, who, _) = tombolo(secret.trim(), &["whoami"]);
    assert!(who.contains("ana") && who.contains("viewer in lab") && who.contains("(ci)"), "{who}");
    let list = ours(&["tokens", "list", "--user", "ana"]);
    let id = list.split_whitespace().find(|word| word.starts_with("tok_")).unwrap();
    assert!(!list.contains(secret.trim()));
    ours(&["tokens", "revoke", id]);
    assert_ne!(tombolo(secret.trim(), &["whoami"]).0, Some(0));
    ours(&["users", "remove", "ana"]);
    let audit = ours(&["audit"]);
    for verb in ["users.add", "users.set", "tokens.add", "tokens.revoke", "users.remove", "whoami"] {
        assert!(audit.contains(verb), "{verb}: {audit}");
    }
    assert!(ours(&["audit", "--limit", "1"]).lines().count() == 2);
    let (code, _, told) = tombolo(hub.token(), &["users", "add", "x", "--role", "lab"]);
    assert!(code != Some(0) && told.contains("write WORKSPACE=ROLE"), "{told}");
}
