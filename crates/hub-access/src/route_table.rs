//! The route table: which action a request asks for, which role it needs, and where its workspace is found.
//!
//! This table decides every request to the hub. Handlers and services compare no roles.

use protocol::hub::Role::{Controller, Owner, Viewer};

use crate::{
    action::Action,
    route_rule::{
        AuditRule::{self, Always, AlwaysFromReserve, Refusals, Unauthenticated},
        Requirement::{
            self, Admin, Anonymous, AnyToken, OwnerSomewhere, Role, RoleOrAdmin, SelfOrAdmin,
            UnscopedSelfOrAdmin,
        },
        ResourceSource::{
            self, InBody, InQuery, None as NoResource, OfDevice, OfEnvironment, OfGrant, OfPath, OfRuntime,
            OfToken, OfWait,
        },
        RouteRule,
    },
};

/// The route of requests that the hub forwards to a daemon.
pub const FORWARDED_ROUTE: &str = "/api/runtimes/{runtime_id}/v1/{*path}";

/// A route of the hub that the table does not list.
pub(crate) const UNLISTED: &RouteRule = &unlisted(Action::Unlisted, Admin, NoResource, Always);

/// A route of a daemon that the table does not list.
pub(crate) const UNLISTED_OF_DAEMON: &RouteRule = &unlisted(Action::Unlisted, Role(Owner), OfRuntime, Always);

/// A path below `/api/` that is no route. A token is needed, so that a client without one cannot find out which paths exist.
pub(crate) const UNKNOWN_PATH: &RouteRule = &unlisted(Action::UnknownPath, AnyToken, NoResource, Refusals);

const fn unlisted(
    action: Action,
    requirement: Requirement,
    resource: ResourceSource,
    audit: AuditRule,
) -> RouteRule {
    RouteRule { method: "", path: "", action, requirement, resource, audit }
}

/// Declares the rows: method and path, action, requirement, resource, audit.
macro_rules! route_table {
    ($($method:ident $path:literal $action:ident, $requirement:expr, $resource:ident, $audit:ident;)*) => {
        /// The table.
        pub(crate) const ROUTES: &[RouteRule] = &[$(RouteRule {
            method: stringify!($method),
            path: $path,
            action: Action::$action,
            requirement: $requirement,
            resource: $resource,
            audit: $audit,
        }),*];
    };
}

route_table! {
    GET "/api/health" Health, Anonymous, NoResource, Refusals;
    GET "/api/openapi.json" InfoRead, AnyToken, NoResource, Refusals;
    GET "/metrics" MetricsRead, Admin, NoResource, Refusals;
    POST "/api/login" Login, Anonymous, NoResource, AlwaysFromReserve;
    POST "/api/logout" Logout, AnyToken, NoResource, AlwaysFromReserve;
    GET "/api/whoami" Whoami, AnyToken, NoResource, Refusals;
    GET "/api/audit" AuditRead, Admin, NoResource, Refusals;

    GET "/api/users" UsersRead, Admin, NoResource, Refusals;
    POST "/api/users" UsersAdd, Admin, NoResource, Always;
    GET "/api/users/{user}" UsersRead, Admin, NoResource, Refusals;
    PUT "/api/users/{user}" UsersSet, Admin, NoResource, AlwaysFromReserve;
    DELETE "/api/users/{user}" UsersRemove, Admin, NoResource, AlwaysFromReserve;
    GET "/api/tokens" TokensRead, SelfOrAdmin, InQuery, Refusals;
    POST "/api/tokens" TokensAdd, UnscopedSelfOrAdmin, InBody, Always;
    DELETE "/api/tokens/{token_id}" TokensRevoke, SelfOrAdmin, OfToken, AlwaysFromReserve;

    GET "/api/runtimes" RuntimesList, AnyToken, NoResource, Refusals;
    POST "/api/runtimes" RuntimesAdd, Admin, NoResource, Always;
    POST "/api/runtimes/join-tokens" RuntimesInvite, Admin, NoResource, Always;
    GET "/api/join/ws" RuntimesJoin, Anonymous, NoResource, Always;
    GET "/api/runtimes/{runtime_id}" RuntimesRead, Role(Viewer), OfRuntime, Refusals;
    DELETE "/api/runtimes/{runtime_id}" RuntimesRemove, Admin, NoResource, AlwaysFromReserve;
    GET "/api/runtimes/{runtime_id}/workers" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/api/runtimes/{runtime_id}/workers/{worker_id}" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws" WorkersWatch, Role(Viewer), OfRuntime, Refusals;
    GET "/api/runtimes/{runtime_id}/workers/{worker_id}/presence" PresenceRead, Role(Viewer), OfRuntime, Refusals;
    GET "/api/waits" WaitsList, AnyToken, NoResource, Refusals;
    GET "/api/waits/events" WaitsList, AnyToken, NoResource, Refusals;
    POST "/api/waits/{runtime_id}/{wait_id}" WaitsAnswer, Role(Controller), OfRuntime, Always;

    GET "/api/devices" DevicesRead, AnyToken, NoResource, Refusals;
    POST "/api/devices" DevicesAdd, RoleOrAdmin(Owner), InBody, Always;
    GET "/api/devices/{client_id}" DevicesRead, RoleOrAdmin(Viewer), OfDevice, Refusals;
    DELETE "/api/devices/{client_id}" DevicesRemove, RoleOrAdmin(Owner), OfDevice, AlwaysFromReserve;
    POST "/api/devices/{client_id}/stop" DevicesStop, RoleOrAdmin(Controller), OfDevice, AlwaysFromReserve;
    GET "/api/devices/pairings" PairingsRead, Admin, NoResource, Refusals;
    POST "/api/devices/pairings" PairingsBegin, Anonymous, NoResource, Always;
    POST "/api/devices/pairings/claim" PairingsClaim, Anonymous, NoResource, Unauthenticated;
    GET "/api/devices/pairings/{code}" PairingsRead, OwnerSomewhere, NoResource, Refusals;
    POST "/api/devices/pairings/{code}/confirm" PairingsConfirm, RoleOrAdmin(Owner), InBody, Always;
    POST "/api/devices/pairings/{code}/refuse" PairingsRefuse, OwnerSomewhere, NoResource, AlwaysFromReserve;
    GET "/api/grants" GrantsRead, AnyToken, NoResource, Refusals;
    POST "/api/grants" GrantsAdd, RoleOrAdmin(Owner), InBody, Always;
    DELETE "/api/grants/{grant_id}" GrantsRemove, RoleOrAdmin(Owner), OfGrant, AlwaysFromReserve;

    GET "/api/v1/relay/connect" RelayConnect, Anonymous, NoResource, Always;
    GET "/api/v1/relay/environments" EnvironmentsRead, AnyToken, NoResource, Refusals;
    POST "/api/v1/relay/environments" EnvironmentsAdd, RoleOrAdmin(Controller), InBody, Always;
    GET "/api/v1/relay/environments/{environment_id}" EnvironmentsRead, RoleOrAdmin(Viewer), OfEnvironment, Refusals;
    DELETE "/api/v1/relay/environments/{environment_id}" EnvironmentsRemove, RoleOrAdmin(Controller), OfEnvironment, AlwaysFromReserve;
    GET "/api/v1/relay/environments/{environment_id}/connect" EnvironmentsUse, Anonymous, NoResource, Unauthenticated;
    POST "/api/v1/relay/environments/{environment_id}/requests" EnvironmentsUse, Anonymous, NoResource, Unauthenticated;
    GET "/api/v1/relay/environments/{environment_id}/mcp" EnvironmentsUse, Anonymous, NoResource, Unauthenticated;
    POST "/api/v1/relay/environments/{environment_id}/mcp" EnvironmentsUse, Anonymous, NoResource, Unauthenticated;
    DELETE "/api/v1/relay/environments/{environment_id}/mcp" EnvironmentsUse, Anonymous, NoResource, Unauthenticated;
    DELETE "/api/v1/relay/approvals/{wait_id}" RelayForget, RoleOrAdmin(Controller), OfWait, AlwaysFromReserve;
    GET "/api/v1/relay/audit" RelayRead, Admin, NoResource, Refusals;
    GET "/api/v1/relay/status" RelayRead, Admin, NoResource, Refusals;
    PUT "/api/workspaces/{workspace}/relay" RelaySet, RoleOrAdmin(Owner), OfPath, AlwaysFromReserve;

    GET "/v1/health" InfoRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/openapi.json" InfoRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/sessions" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/sessions/{id}" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    POST "/v1/sessions/{id}" SessionsCreate, Role(Controller), OfRuntime, Always;
    DELETE "/v1/sessions/{id}" SessionsDelete, Role(Owner), OfRuntime, AlwaysFromReserve;
    POST "/v1/sessions/{id}/cancel" SessionsCancel, Role(Controller), OfRuntime, AlwaysFromReserve;
    GET "/v1/sessions/{id}/events" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/sessions/{id}/events/sse" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/sessions/{id}/inputs" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    PUT "/v1/sessions/{id}/inputs/{input_id}" SessionsSend, Role(Controller), OfRuntime, Always;
    DELETE "/v1/sessions/{id}/inputs/{input_id}" SessionsSend, Role(Controller), OfRuntime, AlwaysFromReserve;
    GET "/v1/sessions/{id}/messages" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    POST "/v1/sessions/{id}/messages" SessionsSend, Role(Controller), OfRuntime, Always;
    POST "/v1/sessions/{id}/permissions/{permission_id}/reply" WaitsAnswer, Role(Controller), OfRuntime, Always;
    POST "/v1/sessions/{id}/questions/{question_id}/reject" WaitsAnswer, Role(Controller), OfRuntime, Always;
    POST "/v1/sessions/{id}/questions/{question_id}/reply" WaitsAnswer, Role(Controller), OfRuntime, Always;
    GET "/v1/sessions/{id}/snapshot" SessionsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/waits" WaitsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/waits/events" WaitsRead, Role(Viewer), OfRuntime, Refusals;
    POST "/v1/waits/{wait_id}" WaitsAnswer, Role(Controller), OfRuntime, Always;
    GET "/v1/workers/{worker_id}/events/ws" WorkersWatch, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/agents" AgentsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/agents/{agent}/models" AgentsRead, Role(Viewer), OfRuntime, Refusals;
    GET "/v1/agents/{agent}/modes" AgentsRead, Role(Viewer), OfRuntime, Refusals;
    POST "/v1/agents/{agent}/install" AgentsInstall, Role(Owner), OfRuntime, Always;
    GET "/v1/acp" AcpRead, Role(Owner), OfRuntime, Refusals;
    GET "/v1/acp/{server_id}" AcpRead, Role(Owner), OfRuntime, Refusals;
    POST "/v1/acp/{server_id}" AcpUse, Role(Owner), OfRuntime, Always;
    PUT "/v1/acp/{server_id}" AcpUse, Role(Owner), OfRuntime, Always;
    DELETE "/v1/acp/{server_id}" AcpUse, Role(Owner), OfRuntime, AlwaysFromReserve;
    GET "/v1/config/mcp" ConfigRead, Role(Owner), OfRuntime, Refusals;
    PUT "/v1/config/mcp" ConfigWrite, Role(Owner), OfRuntime, Always;
    DELETE "/v1/config/mcp" ConfigWrite, Role(Owner), OfRuntime, Always;
    GET "/v1/config/skills" ConfigRead, Role(Owner), OfRuntime, Refusals;
    PUT "/v1/config/skills" ConfigWrite, Role(Owner), OfRuntime, Always;
    DELETE "/v1/config/skills" ConfigWrite, Role(Owner), OfRuntime, Always;
    GET "/v1/fs/entries" FilesRead, Role(Owner), OfRuntime, Refusals;
    GET "/v1/fs/file" FilesRead, Role(Owner), OfRuntime, Refusals;
    GET "/v1/fs/stat" FilesRead, Role(Owner), OfRuntime, Refusals;
    PUT "/v1/fs/file" FilesWrite, Role(Owner), OfRuntime, Always;
    DELETE "/v1/fs/entry" FilesWrite, Role(Owner), OfRuntime, Always;
    POST "/v1/fs/mkdir" FilesWrite, Role(Owner), OfRuntime, Always;
    POST "/v1/fs/move" FilesWrite, Role(Owner), OfRuntime, Always;
    POST "/v1/fs/upload-batch" FilesWrite, Role(Owner), OfRuntime, Always;
    GET "/v1/processes" ProcessesRead, Role(Owner), OfRuntime, Refusals;
    POST "/v1/processes" ProcessesUse, Role(Owner), OfRuntime, Always;
    GET "/v1/processes/{id}" ProcessesRead, Role(Owner), OfRuntime, Refusals;
    DELETE "/v1/processes/{id}" ProcessesUse, Role(Owner), OfRuntime, AlwaysFromReserve;
    POST "/v1/processes/{id}/input" ProcessesUse, Role(Owner), OfRuntime, Always;
    GET "/v1/processes/{id}/logs" ProcessesRead, Role(Owner), OfRuntime, Refusals;
    POST "/v1/processes/{id}/resize" ProcessesUse, Role(Owner), OfRuntime, Always;
    POST "/v1/processes/{id}/signal" ProcessesUse, Role(Owner), OfRuntime, Always;
    GET "/v1/processes/{id}/terminal" TerminalsUse, Role(Owner), OfRuntime, Always;
    POST "/v1/processes/{id}/wait" ProcessesRead, Role(Owner), OfRuntime, Refusals;
}

// An action that no row decides about does not compile.
const _: () = assert!(every_action_has_a_row());

const fn every_action_has_a_row() -> bool {
    let mut at = 0;
    while at < Action::ALL.len() {
        let action = Action::ALL[at];
        if !matches!(action, Action::Unlisted | Action::UnknownPath) && !has_row(action) {
            return false;
        }
        at += 1;
    }
    true
}

const fn has_row(action: Action) -> bool {
    let mut at = 0;
    while at < ROUTES.len() {
        if ROUTES[at].action as u8 == action as u8 {
            return true;
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests;
