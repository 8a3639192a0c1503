#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Duration;

use axum::{Router, extract::FromRef, middleware, routing};
use protocol::lending::AddDeviceRequest;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use server::StallTimeout;
use tokio::{net::TcpListener, task::JoinSet};

use super::*;
use crate::{AuthorizedJson, NewToken, Rate};

/// No resource exists.
struct Empty;

impl WorkspaceLookup for Empty {
    fn workspace_of(&self, _: &WorkspaceResource) -> Option<WorkspaceName> {
        None
    }
}

#[derive(Clone)]
struct NoState;

impl FromRef<NoState> for StallTimeout {
    fn from_ref(_: &NoState) -> Self {
        Self(Duration::from_secs(10))
    }
}

/// A server with the guard before these routes: its address, an administrator's token, and its task.
async fn serve(directory: &std::path::Path, routes: Router<NoState>) -> (String, NewToken, JoinSet<()>) {
    let (users, token) = UserStore::open(directory.join("people.json")).unwrap();
    let plenty = Rate { burst: 1000, every: Duration::from_millis(1) };
    let access = Arc::new(AccessGuard {
        users,
        limits: AccessLimits::new(plenty, plenty),
        audit: AuditLog::open(&directory.join("audit.db")).await.unwrap(),
        hosts: HostPolicy { loopback: true, hosts: Vec::new(), origins: Vec::new() },
        key: SigningKey::open(&directory.join("key")).unwrap(),
        policy: Arc::default(),
        workspaces: Arc::new(Empty),
    });
    let router = routes.layer(middleware::from_fn_with_state(access, guard)).with_state(NoState);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, token.unwrap(), tasks)
}

#[tokio::test]
async fn a_handler_that_forgets_its_check_cannot_answer_with_success() {
    async fn forgetful() -> &'static str {
        "done"
    }
    async fn careful(AuthorizedJson(add): AuthorizedJson<AddDeviceRequest>) -> String {
        add.client_id.to_string()
    }
    let directory = tempfile::tempdir().unwrap();
    let routes = Router::new()
        .route("/api/devices", routing::post(careful))
        // The table says that the body of this names a device.
        .route("/api/grants", routing::post(forgetful));
    let (address, token, _tasks) = serve(directory.path(), routes).await;
    let send = |path: &str| {
        let request = reqwest::Client::new().post(format!("{address}{path}"));
        request.bearer_auth(token.expose_secret()).json(&json!({ "clientId": "laptop" })).send()
    };
    let response = send("/api/devices").await.unwrap();
    assert_eq!((response.status().as_u16(), response.text().await.unwrap()), (200, "laptop".into()));
    let response = send("/api/grants").await.unwrap();
    assert_eq!(response.status(), 500);
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["type"], "urn:problem:internal", "{problem}");
}
