//! Who may do what: every identity on every route of the hub and of a daemon behind it, in two workspaces.
//!
//! The expected answers come from `rules`, a statement of the rules of its own. It shares nothing with the table of the hub.

mod identities;
mod resources;
mod rules;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;

use identities::{Identity, identities};
use resources::Resources;
use rules::{Answer, Rule, daemon_rule, hub_rules};

/// The two workspaces of the matrix.
const WORKSPACES: [&str; 2] = ["default", "lab"];

/// The methods and paths of a committed OpenAPI document.
fn documented(document: &str) -> Vec<(Method, String)> {
    let document: Value = serde_json::from_str(document).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let routes = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().keys();
        methods.map(|method| (method.to_uppercase().parse().unwrap(), path.clone())).collect::<Vec<_>>()
    });
    routes.collect()
}

/// All routes with their rules: those of the hub, those of a daemon below a runtime, and some that do not exist.
fn routes() -> Vec<(Method, String, Rule)> {
    let rules = hub_rules();
    let hub = documented(include_str!("../../../../docs/openapi-hub.json"));
    let named: BTreeSet<_> = rules.iter().map(|(method, path, _)| format!("{method} {path}")).collect();
    let known: BTreeSet<_> = hub.iter().map(|(method, path)| format!("{method} {path}")).collect();
    assert_eq!(named, known, "every route of the hub has a rule here, and every rule a route");
    let mut routes: Vec<_> = rules
        .into_iter()
        .map(|(method, path, rule)| (method.parse().unwrap(), path.to_owned(), rule))
        .collect();
    let mut daemon = documented(include_str!("../../../../docs/openapi.json"));
    daemon.extend([
        (Method::PATCH, "/v1/sessions".to_owned()),
        (Method::GET, "/v1/not/a/route".to_owned()),
        (Method::HEAD, "/v1/sessions".to_owned()),
    ]);
    for (method, path) in daemon {
        let Some(rest) = path.strip_prefix("/v1/") else { continue };
        let rule = daemon_rule(method.as_str(), rest);
        routes.push((method, format!("/api/runtimes/{{runtime_id}}/v1/{rest}"), rule));
    }
    routes.push((Method::PATCH, "/api/users".to_owned(), Rule::Admin));
    routes.push((Method::PUT, "/api/devices/{client_id}".to_owned(), Rule::Admin));
    routes.push((Method::GET, "/api/not/a/route".to_owned(), Rule::AnyToken));
    // Last, as it ends the browser's session.
    routes.sort_by_key(|(_, path, _)| path == "/api/logout");
    routes
}

#[tokio::test]
async fn every_identity_gets_the_answer_of_the_rules_on_every_route() {
    let (world, resources) = Resources::new().await;
    let identities = identities(&world).await;
    let routes = routes();
    assert!(routes.len() > 110, "{}", routes.len());
    let (mut requests, mut deviations) = (0, Vec::new());
    for (method, path, rule) in &routes {
        for (number, workspace) in WORKSPACES.into_iter().enumerate() {
            if path == "/api/logout" && number == 1 {
                continue; // The browser has logged out.
            }
            for identity in &identities {
                let (path, body) =
                    resources.fill(&world, (method, path), (workspace, number), identity).await;
                let reached = resources.reached();
                let request = identity.authenticate(world.anonymous(method.clone(), &path));
                let request = match &body {
                    Some(body) => request.json(body),
                    None => request,
                };
                let response = request.send().await.unwrap();
                requests += 1;
                let status = response.status().as_u16();
                let is_stream = path.ends_with("/events") && status == 200;
                let problem: Value = match is_stream {
                    true => Value::Null,
                    false => response.json().await.unwrap_or_default(),
                };
                let expected = rule.expected(identity, number);
                let is_right = expected.matches(status, &problem, *method == Method::HEAD)
                    && (expected == Answer::Allowed || resources.reached() == reached);
                if !is_right {
                    let name = identity.name;
                    deviations.push(format!(
                        "{name}: {method} {path} in {workspace}: {expected:?}, not {status} {problem}"
                    ));
                }
            }
        }
    }
    println!("{requests} requests: {} routes, {} identities", routes.len(), identities.len());
    assert_eq!(deviations, Vec::<String>::new(), "{} of {requests}", deviations.len());
    assert!(requests > 3_000, "{requests}");
}

/// An answer about a workspace that a caller cannot see is the answer for a resource that does not exist.
#[tokio::test]
async fn a_hidden_resource_looks_like_a_missing_one() {
    let (world, resources) = Resources::new().await;
    let identities = identities(&world).await;
    let stranger: &Identity = identities.iter().find(|identity| identity.name == "owner of lab").unwrap();
    for (method, path, missing) in [
        (Method::GET, "/api/runtimes/near", "/api/runtimes/none"),
        (Method::GET, "/api/devices/laptop-default", "/api/devices/none"),
        (Method::POST, "/api/devices/laptop-default/stop", "/api/devices/none/stop"),
        (Method::GET, "/api/runtimes/near/v1/fs/file", "/api/runtimes/none/v1/fs/file"),
    ] {
        let mut answers = Vec::new();
        for path in [path, missing] {
            let request = stranger.authenticate(world.anonymous(method.clone(), path));
            let response = request.header("request-id", "one").send().await.unwrap();
            let (status, text) = (response.status(), response.text().await.unwrap());
            answers.push((status, text.replace("laptop-default", "none").replace("near", "none")));
        }
        assert_eq!(answers[0].0, 404, "{method} {path}");
        assert_eq!(answers[0], answers[1], "{method} {path}");
    }
    assert_eq!(resources.reached(), 0);
}
