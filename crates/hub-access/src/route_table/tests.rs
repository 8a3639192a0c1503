#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use serde_json::Value;

use super::*;
use crate::route_index::{daemon_rule, hub_rule};

/// The methods and paths of a committed OpenAPI document.
fn documented(document: &str) -> BTreeSet<String> {
    let document: Value = serde_json::from_str(document).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let routes = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().keys();
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    });
    routes.collect()
}

#[test]
fn every_route_has_one_row_and_every_row_has_a_route() {
    let mut routes = documented(include_str!("../../../../docs/openapi-hub.json"));
    let daemon = documented(include_str!("../../../../docs/openapi.json"));
    // A daemon's other routes, such as its metrics, cannot be reached through the hub.
    routes.extend(daemon.into_iter().filter(|route| route.contains(" /v1/")));
    let rows: BTreeSet<String> = ROUTES.iter().map(|rule| format!("{} {}", rule.method, rule.path)).collect();
    assert_eq!(rows, routes);
    assert_eq!(rows.len(), ROUTES.len(), "no route has two rows");
}

#[test]
fn every_row_is_found_by_its_route() {
    for rule in ROUTES {
        let method: Method = rule.method.parse().unwrap();
        let found = match rule.path.strip_prefix("/v1/") {
            Some(path) => daemon_rule(&method, &path.split('/').collect::<Vec<_>>()),
            None => hub_rule(&method, Some(rule.path)),
        };
        assert_eq!(found, rule);
    }
    assert_eq!(daemon_rule(&Method::GET, &["sessions", "any"]).action, Action::SessionsRead);
    assert_eq!(daemon_rule(&Method::HEAD, &["sessions"]).action, Action::SessionsRead);
}

#[test]
fn a_route_that_is_not_listed_needs_the_most() {
    assert_eq!(hub_rule(&Method::PATCH, Some("/api/users")).requirement, Admin);
    assert_eq!(hub_rule(&Method::GET, Some("/api/new")).requirement, Admin);
    assert_eq!(hub_rule(&Method::GET, None).requirement, AnyToken);
    for (method, segments) in
        [(Method::GET, &["something", "new"][..]), (Method::PATCH, &["sessions"]), (Method::GET, &[])]
    {
        let rule = daemon_rule(&method, segments);
        assert_eq!((rule.requirement, rule.resource), (Role(Owner), OfRuntime));
    }
}

/// The guard needs a workspace or a user for these requirements, and for no others.
#[test]
fn a_row_names_what_its_requirement_is_about() {
    for rule in ROUTES {
        let fits = match rule.requirement {
            Anonymous | AnyToken | Admin | OwnerSomewhere => rule.resource == NoResource,
            // The permit of a role follows the policy, which is about runtimes.
            Role(_) => rule.resource == OfRuntime,
            RoleOrAdmin(_) => !matches!(rule.resource, NoResource | OfToken | InQuery),
            SelfOrAdmin | UnscopedSelfOrAdmin => matches!(rule.resource, OfToken | InBody | InQuery),
        };
        assert!(fits, "{rule:?}");
        let daemon = rule.path.starts_with("/v1/");
        assert!(!daemon || matches!(rule.requirement, Role(_)), "{rule:?}");
    }
}

#[test]
fn only_requests_that_change_nothing_leave_no_entry() {
    for rule in ROUTES.iter().filter(|rule| rule.audit == Refusals) {
        // Waiting for the end of a process changes nothing.
        assert!(rule.method == "GET" || rule.path == "/v1/processes/{id}/wait", "{rule:?}");
    }
}

#[test]
fn anonymous_clients_cannot_fill_the_audit_log() {
    let leaves = |rule: &RouteRule, status: u16| rule.leaves_entry(StatusCode::from_u16(status).unwrap());
    for rule in ROUTES {
        assert!(rule.requirement != Anonymous || !(leaves(rule, 429) || leaves(rule, 400)), "{rule:?}");
        assert!(leaves(rule, 401), "{rule:?}");
    }
    let of = |action| ROUTES.iter().find(|rule| rule.action == action).unwrap();
    let (add, read) = (of(Action::UsersAdd), of(Action::UsersRead));
    assert!(leaves(add, 201) && leaves(add, 500) && leaves(read, 403) && !leaves(read, 200));
    assert!(leaves(of(Action::SessionsSend), 429) && leaves(of(Action::RelayConnect), 101));
    let uses = of(Action::EnvironmentsUse);
    assert!(!leaves(uses, 200) && !leaves(uses, 403));
}
