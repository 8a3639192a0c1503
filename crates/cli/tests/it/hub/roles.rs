//! Who may do what.

use super::*;
use crate::{check_problem, cli::mirrored::Recorder, problem};

const ROLES: [&str; 3] = ["viewer", "controller", "owner"];

/// What a runtime says to everything.
const YES: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The least role that a route of a daemon needs, as the issue has it.
fn needed(method: &str, path: &str) -> &'static str {
    let reads = ["sessions", "search", "workers", "waits", "agents", "health", "openapi.json"];
    let first = path.split('/').next().unwrap();
    match (method, first) {
        ("GET", first) if reads.contains(&first) => "viewer",
        ("DELETE", "sessions") if path == "sessions/{id}" => "owner",
        (_, "sessions" | "waits") => "controller",
        _ => "owner",
    }
}

/// observation-69: every route of a daemon, with every role: who may not is told what is missing, and the runtime is never asked.
#[tokio::test]
async fn every_route_needs_its_role() {
    let (hub, runtime) = (TestHub::start(TOMBOLO), Recorder::start(YES));
    hub.add_runtime("box", &runtime.endpoint(), Some(TOKEN)).await;
    let mut people = Vec::new();
    for role in ROLES {
        people.push((
            role,
            somebody(&hub, &format!("a-{role}"), json!({ "roles": { "default": role } })).await,
        ));
    }
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json"));
    let document: Value = serde_json::from_str(&document.unwrap()).unwrap();
    let mut routes = vec![("PATCH".to_owned(), "sessions".to_owned()), ("GET".into(), "unheard/of".into())];
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(path) = path.strip_prefix("/v1/") else { continue };
        routes.extend(
            methods.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.to_owned())),
        );
    }
    assert!(routes.len() > 45, "{routes:?}");
    for (method, path) in routes {
        let needed = if method == "PATCH" { "owner" } else { needed(&method, &path) };
        let filled = path.replace(['{', '}'], "x");
        for (role, token) in &people {
            let before = runtime.asked().len();
            let at = format!("/api/runtimes/box/v1/{filled}");
            let request = hub.request_as(token, method.parse().unwrap(), &at);
            let response = request.send().await.unwrap();
            let rank = |role: &str| ROLES.iter().position(|known| *known == role);
            if rank(role) >= rank(needed) {
                assert_eq!(response.status(), 200, "{role} {method} {path}");
                let asked = runtime.asked();
                assert_eq!(asked.len(), before + 1);
                assert_eq!(asked[before], format!("{method} /v1/{filled} HTTP/1.1"));
            } else {
                let problem = problem(response).await;
                check_problem(&problem, 403, "urn:problem:forbidden");
                let detail = problem["detail"].as_str().unwrap();
                assert!(
                    detail.contains(&format!("needs the role `{needed}`")),
                    "{role} {method} {path}: {detail}"
                );
                assert!(
                    detail.starts_with('`') && detail.contains('.') || detail.starts_with("`other`"),
                    "{detail}"
                );
                assert_eq!(runtime.asked().len(), before, "{role} {method} {path}");
            }
        }
    }
}

/// Another spelling of a path is the same path: nothing is reached by it that is not allowed.
#[tokio::test]
async fn a_spelling_opens_nothing() {
    let (hub, runtime) = (TestHub::start(TOMBOLO), Recorder::start(YES));
    hub.add_runtime("box", &runtime.endpoint(), Some(TOKEN)).await;
    let viewer = somebody(&hub, "vic", json!({ "roles": { "default": "viewer" } })).await;
    for path in [
        "fs%2Ffile",
        "%66s/file",
        "sessions%2f..%2ffs%2ffile",
        "sessions/x/../../fs/file",
        "FS/file",
        "fs/file%00",
    ] {
        let request = hub.request_as(&viewer, Method::GET, &format!("/api/runtimes/box/v1/{path}"));
        let status = request.send().await.unwrap().status().as_u16();
        assert!(matches!(status, 400 | 403 | 404), "{path}: {status}");
    }
    assert_eq!(runtime.asked(), Vec::<String>::new());
}

/// observation-22: a runtime of a workspace where somebody has no role is not there for them, whatever they ask.
#[tokio::test]
async fn a_workspace_is_closed_to_others() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    hub.add_runtime_to("lab", "far", daemon.base(), Some(TOKEN)).await;
    let ana = somebody(&hub, "ana", json!({ "roles": { "lab": "owner" } })).await;
    let all =
        somebody(&hub, "all", json!({ "everywhere": "viewer", "roles": { "lab": "controller" } })).await;
    let ids = |list: &Value| -> Vec<String> {
        list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    for (who, seen) in [(&*ana, vec!["far"]), (&all, vec!["box", "far"]), (hub.token(), vec!["box", "far"])] {
        let (_, list) = answer(hub.request_as(who, Method::GET, "/api/runtimes")).await;
        assert_eq!(ids(&list), seen);
    }
    for (method, path) in [
        (Method::GET, "/api/runtimes/box"),
        (Method::GET, "/api/runtimes/box/workers"),
        (Method::GET, "/api/runtimes/box/v1/sessions"),
        (Method::POST, "/api/runtimes/box/v1/sessions/new"),
    ] {
        let asked = |path: &str| hub.request_as(&ana, method.clone(), path).header("request-id", "one");
        let refused = problem(asked(path).send().await.unwrap()).await;
        let unknown = problem(asked(&path.replace("/box", "/none")).send().await.unwrap()).await;
        check_problem(&refused, 404, "urn:problem:runtime-not-found");
        assert_eq!(
            refused.to_string().replace("box", "none"),
            unknown.to_string(),
            "nothing tells them apart"
        );
    }
    assert_eq!(refused::status(Viewer::try_as(&hub, &ana, "s").await).await, 404);
    Viewer::try_as(&hub, &all, "s").await.unwrap().until("control").await;
    // What they may do differs with the workspace, and a workspace that comes later is everywhere too.
    let send = |runtime: &str| format!("/api/runtimes/{runtime}/v1/sessions/s/cancel");
    assert_eq!(answer(hub.request_as(&all, Method::POST, &send("box"))).await.0, 403);
    assert_eq!(answer(hub.request_as(&all, Method::POST, &send("far"))).await.0, 204);
    hub.add_runtime_to("later", "new", daemon.base(), Some(TOKEN)).await;
    assert_eq!(answer(hub.request_as(&all, Method::GET, "/api/runtimes/new/v1/sessions")).await.0, 200);
    assert_eq!(answer(hub.request_as(&ana, Method::GET, "/api/runtimes/new/v1/sessions")).await.0, 404);
    // Where a runtime belongs is kept.
    let (_, list) = answer(hub.request(Method::GET, "/api/runtimes")).await;
    assert_eq!(list["items"][2]["workspace"], "later");
}

/// A token can do less than its user, never more, and is not the way to one that can.
#[tokio::test]
async fn a_scope_makes_a_token_smaller() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    hub.add_runtime_to("lab", "far", daemon.base(), Some(TOKEN)).await;
    somebody(&hub, "vic", json!({ "everywhere": "viewer" })).await;
    let of = |user: &str, scope: Value| token(&hub, json!({ "name": "t", "user": user, "scope": scope }));
    let (_, viewer) = of("owner", json!({ "role": "viewer" })).await;
    let (_, lab) = of("owner", json!({ "workspaces": ["lab"] })).await;
    let (_, more) = of("vic", json!({ "role": "owner" })).await;
    let cancel = |runtime: &str| format!("/api/runtimes/{runtime}/v1/sessions/s/cancel");
    let read = |runtime: &str| format!("/api/runtimes/{runtime}/v1/sessions");
    for (who, read_box, cancel_box, cancel_far) in
        [(&viewer, 200, 403, 403), (&lab, 404, 404, 204), (&more, 200, 403, 403)]
    {
        let ask = async |method, path: &str| answer(hub.request_as(who, method, path)).await.0;
        assert_eq!(ask(Method::GET, &read("box")).await, read_box);
        assert_eq!(ask(Method::POST, &cancel("box")).await, cancel_box);
        assert_eq!(ask(Method::POST, &cancel("far")).await, cancel_far);
        for (method, path) in [
            (Method::GET, "/api/users"),
            (Method::GET, "/api/audit"),
            (Method::DELETE, "/api/runtimes/box"),
            (Method::DELETE, "/api/users/vic"),
        ] {
            assert_eq!(ask(method, path).await, 403, "{path}");
        }
        let add = hub.request_as(who, Method::POST, "/api/tokens").json(&json!({ "name": "wider" }));
        assert_eq!(answer(add).await.0, 403);
    }
}

/// A controller creates sessions, but chooses nothing that decides which code runs on the runtime, unless a rule allows it.
#[tokio::test]
async fn a_controller_cannot_run_code_by_creating_a_session() {
    let policy = tempfile::NamedTempFile::new().unwrap();
    let rule = json!({ "controllers": { "default": { "directories": ["/usr"], "env": ["LANG"] } } });
    std::fs::write(policy.path(), rule.to_string()).unwrap();
    let hub = TestHub::start_with(TOMBOLO, &["--policy", policy.path().to_str().unwrap()]);
    let daemon = TestDaemon::start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), None).await;
    let carl = somebody(&hub, "carl", json!({ "roles": { "default": "controller" } })).await;
    let olga = somebody(&hub, "olga", json!({ "roles": { "default": "owner" } })).await;
    let request = |token: &str, id: &str, mut body: Value| {
        body["agent"] = json!("mock");
        hub.request_as(token, Method::POST, &format!("/api/runtimes/box/v1/sessions/{id}")).json(&body)
    };
    for (number, (body, name)) in [
        (json!({ "env": { "NODE_OPTIONS": "--import=data:text/javascript,0" } }), "env.NODE_OPTIONS"),
        (json!({ "mcp": { "x": { "type": "local", "command": ["touch", "/tmp/x"] } } }), "mcp.x"),
        (json!({ "directory": "/" }), "directory"),
        (json!({ "permissionMode": "bypass" }), "permissionMode"),
        (json!({ "agentMode": "bypassPermissions" }), "agentMode"),
        (json!({ "skills": { "x": { "sources": [] } } }), "skills"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("s{number}");
        let (status, problem) = answer(request(&carl, &id, body)).await;
        assert_eq!(status, 403, "{name}");
        assert!(problem["detail"].as_str().unwrap().starts_with(&format!("`{name}` needs")), "{problem}");
        assert_eq!(daemon.get(&format!("/v1/sessions/{id}")).await.status(), 404, "{name}");
    }
    // An agent that is asked what it offers runs in the directory too.
    for (directory, who, expected) in
        [("/", &carl, 403), ("/usr/bin", &carl, 200), ("/", &olga, 200), ("relative", &olga, 400)]
    {
        let path = format!("/api/runtimes/box/v1/agents/mock/modes?directory={directory}");
        assert_eq!(answer(hub.request_as(who, Method::GET, &path)).await.0, expected, "{directory}");
    }
    // A daemon would take an array for the members in their order.
    let array = hub.request_as(&carl, Method::POST, "/api/runtimes/box/v1/sessions/a").json(&json!(["mock"]));
    assert_eq!(answer(array).await.0, 400);
    let allowed = json!({ "directory": "/usr/bin", "env": { "LANG": "C" }, "title": "allowed" });
    assert_eq!(answer(request(&carl, "allowed", allowed)).await.0, 200);
    assert_eq!(
        answer(request(&olga, "owned", json!({ "directory": "/", "env": { "A": "b" } }))).await.0,
        200
    );
}
