//! Browsers, which come with a cookie.

use reqwest::RequestBuilder;

use super::*;
use crate::{check_problem, problem};

/// Logs in; the cookie as it was set, and the page key, which is empty over TLS.
pub(super) async fn log_in(hub: &TestHub, token: &str, host: Option<&str>) -> (String, String) {
    let mut request = plain(hub, Method::POST, "/api/login").json(&json!({ "token": token }));
    if let Some(host) = host {
        request = request.header("host", host);
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    let set = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    let body = response.text().await.unwrap();
    assert!(!body.contains(secret(&set)), "no script gets to see it");
    let body: Value = serde_json::from_str(&body).unwrap();
    (set, body["pageKey"].as_str().unwrap_or_default().to_owned())
}

/// What the browser sends of it.
pub(super) fn cookie(set: &str) -> &str {
    set.split(';').next().unwrap()
}

fn secret(set: &str) -> &str {
    cookie(set).split_once('=').unwrap().1
}

/// The port of the hub, which is in the name of its cookie.
fn port(hub: &TestHub) -> &str {
    hub.base().rsplit(':').next().unwrap()
}

/// A request without any token.
pub(super) fn plain(hub: &TestHub, method: Method, path: &str) -> RequestBuilder {
    reqwest::Client::new().request(method, format!("{}{path}", hub.base()))
}

/// A browser gets a cookie for a token, which is as good as the token, until it logs out or the token is revoked.
#[tokio::test]
async fn a_browser_logs_in_and_out() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    somebody(&hub, "ana", json!({ "everywhere": "owner" })).await;
    let scope = json!({ "role": "viewer" });
    let (id, token) = token(&hub, json!({ "name": "t", "user": "ana", "scope": scope })).await;
    let wrong = plain(&hub, Method::POST, "/api/login").json(&json!({ "token": "wrong" }));
    check_problem(&problem(wrong.send().await.unwrap()).await, 401, "urn:problem:unauthorized");
    let (set, key) = log_in(&hub, &token, None).await;
    let age = "; HttpOnly; SameSite=Strict; Path=/; Max-Age=86400";
    assert!(set.starts_with(&format!("tombolo-{}=tombolo_", port(&hub))) && set.ends_with(age), "{set}");
    let origin = hub.base().to_owned();
    let by = |method, path: &str, set: &str| {
        let request = plain(&hub, method, path).header("cookie", cookie(set)).header("origin", &origin);
        request.header("tombolo-page-key", &key)
    };
    let (status, who) = answer(by(Method::GET, "/api/whoami", &set)).await;
    assert_eq!(
        (status, &who["token"]["isSession"], &who["token"]["scope"]["role"]),
        (200, &json!(true), &json!("viewer"))
    );
    assert_eq!(answer(by(Method::POST, "/api/runtimes/box/v1/sessions/s/cancel", &set)).await.0, 403);
    // It is not what makes more of itself.
    let again = plain(&hub, Method::POST, "/api/login").json(&json!({ "token": secret(&set) }));
    assert_eq!(answer(again).await.0, 401);
    assert_eq!(answer(by(Method::POST, "/api/logout", &set)).await.0, 204);
    assert_eq!(answer(by(Method::GET, "/api/whoami", &set)).await.0, 401);
    // It goes with the token, at once.
    let (set, key) = log_in(&hub, &token, None).await;
    let headers = [("cookie", cookie(&set)), ("origin", &*origin), ("tombolo-page-key", &key)];
    let mut viewer = Viewer::try_with(&hub, "s/events/ws", &headers).await.unwrap();
    viewer.until("control").await;
    assert_eq!(answer(hub.request(Method::DELETE, &format!("/api/tokens/{id}"))).await.0, 204);
    assert_eq!(viewer.end().await.0["diagnostic"]["code"], "backend.denied");
    assert_eq!(answer(by(Method::GET, "/api/whoami", &set)).await.0, 401);
    // A token is no browser.
    assert_eq!(answer(hub.request(Method::POST, "/api/logout")).await.0, 400);
    let token = plain(&hub, Method::GET, "/api/whoami")
        .header("cookie", format!("tombolo-{}={}", port(&hub), hub.token()));
    assert_eq!(answer(token).await.0, 401);
}

/// observation-49: a page of somebody else cannot use the cookie: nothing is done, and nothing watched, without an
/// `Origin` of ours.
#[tokio::test]
async fn a_cookie_is_for_our_own_pages() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let (set, key) = log_in(&hub, hub.token(), None).await;
    let ours = hub.base().to_owned();
    for (origin, allowed) in
        [(None, false), (Some("https://evil.example"), false), (Some("null"), false), (Some(&*ours), true)]
    {
        let cancel = plain(&hub, Method::POST, "/api/runtimes/box/v1/sessions/s/cancel");
        let mut cancel = cancel.header("cookie", cookie(&set)).header("tombolo-page-key", &key);
        let mut headers = vec![("cookie", cookie(&set)), ("tombolo-page-key", &*key)];
        if let Some(origin) = origin {
            cancel = cancel.header("origin", origin);
            headers.push(("origin", origin));
        }
        assert_eq!(answer(cancel).await.0, if allowed { 204 } else { 403 }, "{origin:?}");
        let watched = Viewer::try_with(&hub, "s/events/ws", &headers).await;
        match allowed {
            true => drop(watched.unwrap()),
            false => assert_eq!(refused::status(watched).await, 403, "{origin:?}"),
        }
    }
    // What only reads may come without, as from an address that was typed.
    let read = |path: &str| {
        plain(&hub, Method::GET, path).header("cookie", cookie(&set)).header("tombolo-page-key", &key)
    };
    assert_eq!(answer(read("/api/runtimes")).await.0, 200);
    // Nor does a page of somebody else let a browser in.
    let login = plain(&hub, Method::POST, "/api/login").header("origin", "https://evil.example");
    assert_eq!(answer(login.json(&json!({ "token": hub.token() }))).await.0, 403);
    // What a runtime says is no page of ours, and sets no cookie.
    let read = read("/api/runtimes/box/v1/sessions").send().await.unwrap();
    assert_eq!(read.headers()["content-security-policy"], "sandbox");
    assert_eq!(read.headers()["x-content-type-options"], "nosniff");
}

/// Elsewhere than on this machine a cookie needs TLS, by its name too.
#[tokio::test]
async fn a_cookie_needs_tls_elsewhere() {
    let hub = TestHub::start_with(TOMBOLO, &["--allow-host", "hub.example"]);
    let (set, key) = log_in(&hub, hub.token(), Some("hub.example")).await;
    assert_eq!(key, "");
    assert!(set.starts_with("__Host-tombolo=tombolo_") && set.ends_with("; Secure"), "{set}");
    let at = |host: &str, cookie: &str| {
        plain(&hub, Method::GET, "/api/whoami").header("host", host).header("cookie", cookie)
    };
    assert_eq!(answer(at("hub.example", cookie(&set))).await.0, 200);
    // One without the name may have been set by anybody.
    let renamed = cookie(&set).strip_prefix("__Host-").unwrap();
    assert_eq!(answer(at("hub.example", renamed)).await.0, 401);
}

/// Browsers send a cookie of this machine to every port, so another server may come to know it. Without the page key, which
/// browsers send nowhere by themselves, it opens nothing.
#[tokio::test]
async fn a_cookie_that_another_port_has_seen_opens_nothing() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let (set, key) = log_in(&hub, hub.token(), None).await;
    let origin = hub.base().to_owned();
    let stolen = |method, path: &str| {
        plain(&hub, method, path).header("cookie", cookie(&set)).header("origin", &origin)
    };
    let reads = ["/api/runtimes", "/api/users", "/api/runtimes/box/v1/sessions/s/messages"];
    for path in reads.into_iter().chain(["/api/runtimes/box/v1/fs/entries?path=/"]) {
        assert_eq!(answer(stolen(Method::GET, path)).await.0, 403, "{path}");
        assert_eq!(answer(stolen(Method::GET, path).header("tombolo-page-key", &key)).await.0, 200, "{path}");
    }
    let mint = || stolen(Method::POST, "/api/tokens").json(&json!({ "name": "t" }));
    assert_eq!(answer(mint()).await.0, 403);
    assert_eq!(answer(mint().header("tombolo-page-key", "AAAA")).await.0, 403);
    let headers = [("cookie", cookie(&set)), ("origin", &*origin)];
    assert_eq!(refused::status(Viewer::try_with(&hub, "s/events/ws", &headers).await).await, 403);
    let offered = format!("tombolo, tombolo.page-key.{key}");
    let headers = [("cookie", cookie(&set)), ("origin", &*origin), ("sec-websocket-protocol", &*offered)];
    Viewer::try_with(&hub, "s/events/ws", &headers).await.unwrap().until("control").await;
    // Nor is it a bearer token.
    let bearer = plain(&hub, Method::GET, "/api/runtimes").bearer_auth(secret(&set));
    assert_eq!(answer(bearer).await.0, 401);
}

/// Who has only the cookie, even with its page key, cannot make a token out of it that stays.
#[tokio::test]
async fn a_browser_creates_a_token_only_with_one_that_it_has() {
    let hub = TestHub::start(TOMBOLO);
    let (set, key) = log_in(&hub, hub.token(), None).await;
    let add = |body: Value| {
        let request = plain(&hub, Method::POST, "/api/tokens").header("cookie", cookie(&set));
        request.header("origin", hub.base()).header("tombolo-page-key", &key).json(&body)
    };
    let (status, problem) = answer(add(json!({ "name": "t" }))).await;
    assert_eq!(status, 403);
    assert!(problem["detail"].as_str().unwrap().contains("currentToken"), "{problem}");
    let ana = somebody(&hub, "ana", json!({ "defaultRole": "viewer" })).await;
    for wrong in ["wrong", &*ana, secret(&set)] {
        assert_eq!(answer(add(json!({ "name": "t", "currentToken": wrong }))).await.0, 401);
    }
    assert_eq!(answer(add(json!({ "name": "t", "currentToken": hub.token() }))).await.0, 201);
}

/// A token that ends creates none that lives longer.
#[tokio::test]
async fn a_token_creates_none_that_outlives_it() {
    let hub = TestHub::start(TOMBOLO);
    let ends = "2100-01-01T00:00:00Z";
    let (_, short) = token(&hub, json!({ "name": "short", "expiresAt": ends })).await;
    let add = |body: Value| hub.request_as(&short, Method::POST, "/api/tokens").json(&body);
    let (status, child) = answer(add(json!({ "name": "child" }))).await;
    assert_eq!((status, &child["token"]["expiresAt"]), (201, &json!(ends)));
    let (status, problem) =
        answer(add(json!({ "name": "child", "expiresAt": "2100-01-02T00:00:00Z" }))).await;
    assert_eq!(status, 400);
    assert!(problem["detail"].as_str().unwrap().contains("must not be after"), "{problem}");
    assert_eq!(answer(add(json!({ "name": "child", "expiresAt": "2099-12-31T00:00:00Z" }))).await.0, 201);
}
