//! Who is no longer let in, also on what is open.

use jiff::{SignedDuration, Timestamp};
use testkit::EventStream;

use super::*;

const SSE: &str = "/api/runtimes/box/v1/sessions/s/events/sse";

/// What somebody has open: a WebSocket, and a stream that is passed on.
struct Open {
    viewer: Viewer,
    events: EventStream,
}

impl Open {
    async fn new(hub: &TestHub, token: &str) -> Self {
        let mut viewer = Viewer::try_as(hub, token, "s").await.unwrap();
        viewer.until("control").await;
        let mut events = EventStream::new(hub.request_as(token, Method::GET, SSE).send().await.unwrap());
        within(secs(20), events.next()).await.unwrap();
        Self { viewer, events }
    }

    /// Both end by themselves.
    async fn ends(mut self) {
        let (last, ended) = self.viewer.end().await;
        assert_eq!(last["diagnostic"]["code"], "backend.denied");
        let close = ended.unwrap();
        assert_eq!((u16::from(close.code), close.reason.as_str()), (1008, "backend.denied"));
        within(secs(20), async { while self.events.next().await.is_some() {} }).await;
    }

    /// Both go on: something that happens is seen.
    async fn goes_on(&mut self, daemon: &TestDaemon) {
        send(daemon, "s", "hello").await;
        self.viewer.until_event("turnEnded").await;
        let seen = async {
            while !self.events.next().await.expect("the stream goes on").data.contains("turnEnded") {}
        };
        within(secs(20), seen).await;
    }
}

/// observation-49: whatever lets somebody in no longer ends what they have open, at once; nobody else notices.
#[tokio::test]
async fn what_is_revoked_ends_at_once_also_on_open_streams() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let mut owner = Open::new(&hub, hub.token()).await;
    let viewer = json!({ "roles": { "default": "viewer" } });
    for name in ["token", "user", "role"] {
        let first = somebody(&hub, name, json!({ "roles": { "default": "controller" } })).await;
        let (id, secret) = token(&hub, json!({ "name": "second", "user": name })).await;
        let (mut other, open) = (Open::new(&hub, &first).await, Open::new(&hub, &secret).await);
        // Less than before, and still enough.
        answer(hub.request(Method::PUT, &format!("/api/users/{name}")).json(&viewer)).await;
        other.goes_on(&daemon).await;
        let change = match name {
            "token" => hub.request(Method::DELETE, &format!("/api/tokens/{id}")),
            "user" => hub.request(Method::DELETE, "/api/users/user"),
            _ => hub.request(Method::PUT, "/api/users/role").json(&json!({ "roles": { "lab": "owner" } })),
        };
        let status = answer(change).await.0;
        assert!(matches!(status, 200 | 204), "{status}");
        open.ends().await;
        let again = answer(hub.request_as(&secret, Method::GET, "/api/runtimes/box")).await.0;
        assert_eq!(again, if name == "role" { 404 } else { 401 });
        match name {
            "token" => other.goes_on(&daemon).await,
            _ => other.ends().await,
        }
    }
    owner.goes_on(&daemon).await;
}

/// A token that expires does so while it is in use.
#[tokio::test]
async fn what_expires_ends_at_once_also_on_open_streams() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let at = Timestamp::now() + SignedDuration::from_secs(8);
    let (_, secret) = token(&hub, json!({ "name": "short", "expiresAt": at })).await;
    Open::new(&hub, &secret).await.ends().await;
    assert!(Timestamp::now() >= at, "it was good until then");
    assert_eq!(answer(hub.request_as(&secret, Method::GET, "/api/whoami")).await.0, 401);
    let past = json!({ "name": "late", "expiresAt": "2020-01-01T00:00:00Z" });
    assert_eq!(answer(hub.request(Method::POST, "/api/tokens").json(&past)).await.0, 400);
}

/// What was revoked stays so when the hub is killed and comes back.
#[tokio::test]
async fn what_was_revoked_stays_revoked() {
    let (_daemon, mut hub) = both().await;
    let kept = somebody(&hub, "ana", json!({ "roles": { "default": "viewer" } })).await;
    let (id, gone) = token(&hub, json!({ "name": "gone", "user": "ana" })).await;
    assert_eq!(answer(hub.request(Method::DELETE, &format!("/api/tokens/{id}"))).await.0, 204);
    hub.kill_and_restart();
    assert_eq!(answer(hub.request_as(&gone, Method::GET, "/api/whoami")).await.0, 401);
    let (status, who) = answer(hub.request_as(&kept, Method::GET, "/api/whoami")).await;
    assert_eq!((status, &who["user"]["roles"]), (200, &json!({ "default": "viewer" })));
}
