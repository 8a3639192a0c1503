//! Something in each workspace for requests to be about.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use super::{WORKSPACES, identities::Identity};
use crate::relay::world::{World, shell};

/// How many remembered approvals there are in each workspace: more than are revoked.
const APPROVALS: u128 = 64;

pub(super) struct Resources {
    endpoint: String,
    /// How many requests of a caller have reached a runtime.
    reached: Arc<AtomicUsize>,
    /// Numbers for names that were not used before.
    next: AtomicUsize,
    _runtime: JoinSet<()>,
}

impl Resources {
    /// A hub with a runtime, a device and remembered approvals in each workspace. The approvals are in its files, as an
    /// earlier start left them.
    pub(super) async fn new() -> (World, Self) {
        let reached = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let count = Arc::clone(&reached);
        // The hub's own requests, such as those for open waits, have no author.
        let answer = move |headers: http::HeaderMap| {
            count.fetch_add(usize::from(headers.contains_key("tombolo-author")), Relaxed);
            std::future::ready(axum::Json(json!({})))
        };
        let mut runtime = JoinSet::new();
        runtime
            .spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await.unwrap() });
        let resources = Self { endpoint, reached, next: AtomicUsize::new(0), _runtime: runtime };
        let world = World::new().await;
        for (workspace, id) in WORKSPACES.into_iter().zip(["near", "far"]) {
            resources.add_runtime(&world, workspace, id).await;
            add_device(&world, workspace, &laptop(workspace)).await;
        }
        let world = world.restarted_after(|directory| {
            let file = directory.join("relay.json");
            let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let approvals = (0..2 * APPROVALS).map(|number| {
                let workspace = WORKSPACES[usize::from(number >= APPROVALS)];
                json!({
                    "id": format!("wat_{number:032x}"), "clientId": laptop(workspace), "scopeId": workspace,
                    "operation": "shell.execute", "author": "owner", "approvedAt": "2026-01-01T00:00:00Z",
                })
            });
            state["remembered"] = approvals.collect();
            std::fs::write(&file, state.to_string()).unwrap();
        });
        (world.await, resources)
    }

    /// How many requests have reached a runtime.
    pub(super) fn reached(&self) -> usize {
        self.reached.load(Relaxed)
    }

    /// The path and body of a request to a route. A request that may delete something gets something of its own.
    pub(super) async fn fill(
        &self,
        world: &World,
        (method, path): (&Method, &str),
        (workspace, number): (&str, usize),
        identity: &Identity,
    ) -> (String, Option<Value>) {
        let runtime = ["near", "far"][number];
        let device = laptop(workspace);
        let fresh = format!("fresh-{}", self.next.fetch_add(1, Relaxed));
        let mut path =
            path.replace("{worker_id}", "s").replace("{workspace}", workspace).replace("{code}", "AAAA-BBBB");
        let consumes = *method == Method::DELETE || path.ends_with("/stop");
        let grant = json!({ "clientId": device, "runtimeId": runtime, "capabilities": [shell()] });
        let environment = json!({ "runtimeId": runtime, "clientId": device });
        if path.contains("{environment_id}") {
            let made = world.ok(Method::POST, "/api/v1/relay/environments", Some(environment.clone())).await;
            path = path.replace("{environment_id}", made["environment"]["id"].as_str().unwrap());
        }
        if path.contains("{grant_id}") {
            let made = world.ok(Method::POST, "/api/grants", Some(grant.clone())).await;
            path = path.replace("{grant_id}", made["grant_id"].as_str().unwrap());
        }
        if path.contains("{client_id}") {
            if consumes {
                add_device(world, workspace, &fresh).await;
            }
            path = path.replace("{client_id}", if consumes { &fresh } else { &device });
        }
        if path == "/api/runtimes/{runtime_id}" && consumes {
            self.add_runtime(world, workspace, &fresh).await;
            path = path.replace("{runtime_id}", &fresh);
        }
        if path.contains("{user}") {
            world.ok(Method::POST, "/api/users", Some(json!({ "name": fresh }))).await;
            path = path.replace("{user}", &fresh);
        }
        let user = if number == 0 { &identity.user } else { "none-else" };
        if path.starts_with("/api/tokens") && number == 1 {
            let add = json!({ "name": "none-else" });
            let _ = world.request(Method::POST, "/api/users").json(&add).send().await.unwrap();
        }
        if path.contains("{token_id}") {
            let made =
                world.ok(Method::POST, "/api/tokens", Some(json!({ "name": "t", "user": user }))).await;
            path = path.replace("{token_id}", made["token"]["id"].as_str().unwrap());
        }
        if path.contains("/approvals/{wait_id}") {
            let status = world.ok(Method::GET, "/api/v1/relay/status", None).await;
            let mut left = status["rememberedApprovals"].as_array().unwrap().iter();
            let left = left.find(|approval| approval["clientId"] == device.as_str()).unwrap();
            path = path.replace("{wait_id}", left["id"].as_str().unwrap());
        }
        path = path
            .replace("{runtime_id}", runtime)
            .replace("{wait_id}", "wat_00000000000000000000000000000000");
        path = path.replace(['{', '}'], "x");
        let body = match (method.as_str(), path.as_str()) {
            ("POST", "/api/devices") => Some(json!({ "clientId": fresh, "workspace": workspace })),
            ("POST", "/api/grants") => Some(grant),
            ("POST", "/api/v1/relay/environments") => Some(environment),
            ("POST", path) if path.ends_with("/confirm") => Some(json!({ "workspace": workspace })),
            ("PUT", path) if path.ends_with("/relay") => Some(json!({ "enabled": true })),
            ("POST", "/api/tokens") => Some(json!({ "name": "mine", "user": user })),
            ("GET", "/api/tokens") => {
                path = format!("{path}?user={user}");
                None
            }
            ("POST" | "PUT", _) => Some(json!({})),
            _ => None,
        };
        (path, body)
    }

    async fn add_runtime(&self, world: &World, workspace: &str, id: &str) {
        let add = json!({ "id": id, "endpoint": self.endpoint, "workspace": workspace });
        world.ok(Method::POST, "/api/runtimes", Some(add)).await;
    }
}

async fn add_device(world: &World, workspace: &str, id: &str) {
    let add = json!({ "clientId": id, "workspace": workspace });
    world.ok(Method::POST, "/api/devices", Some(add)).await;
}

/// The device of a workspace.
fn laptop(workspace: &str) -> String {
    format!("laptop-{workspace}")
}
