//! Finds the row of the route table for a request.

use std::{collections::HashMap, sync::LazyLock};

use http::Method;
use protocol::{WorkspaceName, people::User};

use crate::{
    action::Action,
    route_rule::{Requirement, RouteRule},
    route_table::{ROUTES, UNKNOWN_PATH, UNLISTED, UNLISTED_OF_DAEMON},
};

/// The prefix of a daemon's routes in the table.
const DAEMON_PREFIX: &str = "/v1/";

/// The table by what a request is looked up with, so that the guard does not compare each row for each request.
static INDEX: LazyLock<RouteIndex> = LazyLock::new(RouteIndex::new);

struct RouteIndex {
    /// The hub's own routes, by path.
    hub: HashMap<&'static str, Vec<&'static RouteRule>>,
    /// The routes of a daemon, by their first segment, which is never a parameter, and their number of segments.
    daemon: HashMap<(&'static str, usize), Vec<DaemonRoute>>,
    /// The role that each action needs, by its number; `None` for actions that need no role.
    role_requirements: Vec<Option<Requirement>>,
}

struct DaemonRoute {
    segments: Vec<&'static str>,
    rule: &'static RouteRule,
}

impl RouteIndex {
    fn new() -> Self {
        let (mut hub, mut daemon) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for rule in ROUTES {
            match rule.path.strip_prefix(DAEMON_PREFIX) {
                None => hub.entry(rule.path).or_default().push(rule),
                Some(path) => {
                    let segments: Vec<_> = path.split('/').collect();
                    let key = (segments.first().copied().unwrap_or_default(), segments.len());
                    daemon.entry(key).or_default().push(DaemonRoute { segments, rule });
                }
            }
        }
        let role_of = |action: &Action| {
            let mut requirements =
                ROUTES.iter().filter(|rule| rule.action == *action).map(|rule| rule.requirement);
            requirements
                .find(|requirement| matches!(requirement, Requirement::Role(_) | Requirement::RoleOrAdmin(_)))
        };
        Self { hub, daemon, role_requirements: Action::ALL.iter().map(role_of).collect() }
    }
}

/// The rule for a request to the hub itself; `route` is the path that the router has matched.
pub(crate) fn hub_rule(method: &Method, route: Option<&str>) -> &'static RouteRule {
    let Some(route) = route else { return UNKNOWN_PATH };
    let rules = INDEX.hub.get(route).map(Vec::as_slice).unwrap_or_default();
    rules.iter().find(|rule| rule.method == method_name(method)).copied().unwrap_or(UNLISTED)
}

/// The rule for a request that is forwarded to a daemon; `segments` is its path after `/v1`.
pub(crate) fn daemon_rule(method: &Method, segments: &[&str]) -> &'static RouteRule {
    let key = (segments.first().copied().unwrap_or_default(), segments.len());
    let routes = INDEX.daemon.get(&key).map(Vec::as_slice).unwrap_or_default();
    let is_same = |route: &&DaemonRoute| {
        let mut pairs = route.segments.iter().zip(segments);
        route.rule.method == method_name(method)
            && pairs.all(|(pattern, segment)| pattern.starts_with('{') || pattern == segment)
    };
    routes.iter().find(is_same).map_or(UNLISTED_OF_DAEMON, |route| route.rule)
}

/// `HEAD` returns the headers of `GET`, so it needs the same.
fn method_name(method: &Method) -> &str {
    if method == Method::HEAD { "GET" } else { method.as_str() }
}

impl Action {
    /// Whether a user could do this in a workspace with an unscoped token. It is for state that outlives the request of its
    /// creator, such as an environment. `false` for actions that need no role.
    pub fn is_allowed_for(self, user: &User, workspace: &WorkspaceName) -> bool {
        match INDEX.role_requirements.get(self as usize) {
            Some(Some(Requirement::Role(role))) => user.role_in(workspace) >= Some(*role),
            Some(Some(Requirement::RoleOrAdmin(role))) => {
                user.is_admin || user.role_in(workspace) >= Some(*role)
            }
            _ => false,
        }
    }
}
