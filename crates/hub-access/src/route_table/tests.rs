#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use serde_json::Value;

use super::*;

/// The methods and paths of a committed description.
fn routes(document: &str) -> Vec<(Method, String)> {
    let document: Value = serde_json::from_str(document).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let routes = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().keys();
        methods.map(|method| (method.to_uppercase().parse().unwrap(), path.clone())).collect::<Vec<_>>()
    });
    routes.collect()
}

/// Every route of a daemon that can be reached through the hub has a verb; what has none needs the most.
#[test]
fn every_route_of_a_daemon_has_a_verb() {
    let routes = routes(include_str!("../../../../docs/openapi.json"));
    let passed_on: Vec<_> = routes.iter().filter_map(|(m, p)| Some((m, p.strip_prefix("/v1/")?))).collect();
    assert!(passed_on.len() > 40, "{passed_on:?}");
    for (method, path) in &passed_on {
        let pieces: Vec<&str> = path.split('/').collect();
        assert_ne!(daemon_action(method, &pieces).name, "other", "{method} {path}");
    }
    // Nor is there a row for what is no route.
    for (method, pieces, _) in DAEMON_ROUTES {
        let path = pieces.join("/");
        assert!(passed_on.iter().any(|(m, p)| m.as_str() == *method && *p == path), "{method} {path}");
    }
    assert_eq!(daemon_action(&Method::GET, &["something", "new"]), OTHER_OF_RUNTIME);
    assert_eq!(daemon_action(&Method::PATCH, &["sessions"]).requirement, OWNER);
    assert_eq!(daemon_action(&Method::HEAD, &["sessions"]), SESSIONS_READ);
}

/// Every route of the hub has a verb; what has none is for who manages it.
#[test]
fn every_route_of_the_hub_has_a_verb() {
    let routes: Vec<_> = routes(include_str!("../../../../docs/openapi-hub.json"));
    for (method, path) in &routes {
        assert_ne!(hub_action(method, Some(path)).name, "other", "{method} {path}");
    }
    for (method, path, _) in HUB_ROUTES {
        assert!(routes.iter().any(|(m, p)| m.as_str() == *method && p == path), "{method} {path}");
    }
    assert_eq!(hub_action(&Method::PATCH, Some("/api/users")).requirement, Requirement::Admin);
}

/// What a verb is called is what it says: those that read change nothing.
#[test]
fn only_what_gets_something_reads() {
    for (method, path, verb) in HUB_ROUTES {
        assert!(verb.audit != READS || *method == "GET", "{method} {path}");
    }
    for (method, path, verb) in DAEMON_ROUTES {
        // To wait for the end of a process does nothing to it.
        assert!(verb.audit != READS || *method == "GET" || path.ends_with(&["wait"]), "{method} {path:?}");
    }
}

/// What anybody can ask leaves nothing once it is too often; what was done through a runtime does, whatever the runtime says of it.
#[test]
fn what_is_asked_too_often_leaves_nothing() {
    let leaves = |verb: &RouteAction, status: u16| verb.leaves_entry(StatusCode::from_u16(status).unwrap());
    for (_, path, verb) in HUB_ROUTES {
        assert!(
            verb.requirement != Requirement::Anonymous || !(leaves(verb, 429) || leaves(verb, 400)),
            "{path}"
        );
        assert!(leaves(verb, 401), "{path}");
    }
    assert!(leaves(USERS_ADD, 201) && leaves(USERS_ADD, 500) && leaves(USERS_READ, 403));
    assert!(leaves(SESSIONS_SEND, 429) && leaves(RELAY_CONNECT, 101) && !leaves(USERS_READ, 200));
    assert!(!leaves(ENVIRONMENTS_USE, 200) && !leaves(ENVIRONMENTS_USE, 403));
}
