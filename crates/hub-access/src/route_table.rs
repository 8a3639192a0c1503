//! What can be asked of a hub, each by a name, and what it needs.
//!
//! Two tables: the hub's own routes, as the router knows them, and those of a daemon, which are passed on. What a table
//! does not know needs the most.

use http::{Method, StatusCode};
use protocol::hub::Role;

/// What somebody asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct RouteAction {
    /// The name in messages and in the audit log.
    pub name: &'static str,
    /// The least that a caller needs for it.
    pub requirement: Requirement,
    /// When it leaves an entry in the audit log.
    pub audit: AuditRule,
}

/// What is left of it in the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditRule {
    /// An entry, as it changes something.
    Always,
    /// An entry if it is refused, as it changes nothing.
    Refused,
    /// An entry if it is not known who asks: what those do who are is in another record, or comes of something that is in this.
    Unknown,
}

impl RouteAction {
    /// Whether an answer with this status leaves an entry in the audit.
    pub fn leaves_entry(&self, status: StatusCode) -> bool {
        let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        match self.audit {
            // What anybody can ask is refused so often and no oftener. What makes no sense, or comes too often, leaves nothing:
            // so many of these would push out everything else.
            AuditRule::Always if self.requirement == Requirement::Anonymous => {
                is_refused || !status.is_client_error()
            }
            AuditRule::Always => true,
            AuditRule::Refused => is_refused,
            AuditRule::Unknown => status == StatusCode::UNAUTHORIZED,
        }
    }

    /// Whether somebody who does it drives the worker: they send, change, answer or cancel something.
    pub fn drives(&self) -> bool {
        [SESSIONS_SEND, SESSIONS_CANCEL, WAITS_ANSWER].contains(&self)
    }

    /// Whether there is a session once it is done.
    pub fn creates_session(&self) -> bool {
        self == SESSIONS_CREATE
    }

    /// Whether the session is gone once it is done.
    pub fn ends_session(&self) -> bool {
        self == SESSIONS_DELETE
    }

    /// Whether it only tells callers who they are, or lets them leave.
    pub fn only_identifies(&self) -> bool {
        [WHOAMI, LOGOUT].contains(&self)
    }

    /// Whether it is done on a full disk too: it ends something or takes access away. Its audit entry uses the reserve.
    pub fn works_on_full_disk(&self, method: &Method) -> bool {
        let ends = [
            LOGIN,
            LOGOUT,
            USERS_SET,
            USERS_REMOVE,
            TOKENS_REVOKE,
            RUNTIMES_REMOVE,
            DEVICES_REMOVE,
            DEVICES_STOP,
            PAIRINGS_REFUSE,
            GRANTS_REMOVE,
            ENVIRONMENTS_REMOVE,
            RELAY_SET,
            RELAY_FORGET,
            SESSIONS_CANCEL,
            SESSIONS_DELETE,
        ];
        let ends_if_deleted = [SESSIONS_SEND, PROCESSES_USE, ACP_USE];
        ends.contains(&self) || method == Method::DELETE && ends_if_deleted.contains(&self)
    }

    /// Whether somebody who does it watches a worker.
    pub fn watches(&self) -> bool {
        self == WORKERS_WATCH
    }
}

/// What is needed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// Nothing.
    Anonymous,
    /// To be known. What they then get is their own.
    AnyToken,
    /// A role in the workspace of the runtime.
    Role(Role),
    /// To manage the hub.
    Admin,
}

/// Declares verbs: a name, what it needs, and what is left of it.
macro_rules! verbs {
    ($($verb:ident = $name:literal, $need:expr, $entry:expr;)*) => {$(
        const $verb: &RouteAction = &RouteAction { name: $name, requirement: $need, audit: $entry };
    )*};
}

const VIEWER: Requirement = Requirement::Role(Role::Viewer);
const CONTROLLER: Requirement = Requirement::Role(Role::Controller);
const OWNER: Requirement = Requirement::Role(Role::Owner);

const READS: AuditRule = AuditRule::Refused;
const DOES: AuditRule = AuditRule::Always;

verbs! {
    HEALTH = "health", Requirement::Anonymous, READS;
    LOGIN = "login", Requirement::Anonymous, DOES;
    LOGOUT = "logout", Requirement::AnyToken, DOES;
    WHOAMI = "whoami", Requirement::AnyToken, READS;
    RUNTIMES_LIST = "runtimes.list", Requirement::AnyToken, READS;
    RUNTIMES_READ = "runtimes.read", VIEWER, READS;
    RUNTIMES_ADD = "runtimes.add", Requirement::Admin, DOES;
    RUNTIMES_INVITE = "runtimes.invite", Requirement::Admin, DOES;
    RUNTIMES_JOIN = "runtimes.join", Requirement::Anonymous, DOES;
    RUNTIMES_REMOVE = "runtimes.remove", Requirement::Admin, DOES;
    USERS_READ = "users.read", Requirement::Admin, READS;
    USERS_ADD = "users.add", Requirement::Admin, DOES;
    USERS_SET = "users.set", Requirement::Admin, DOES;
    USERS_REMOVE = "users.remove", Requirement::Admin, DOES;
    TOKENS_READ = "tokens.read", Requirement::AnyToken, READS;
    TOKENS_ADD = "tokens.add", Requirement::AnyToken, DOES;
    TOKENS_REVOKE = "tokens.revoke", Requirement::AnyToken, DOES;
    WAITS_LIST = "waits.list", Requirement::AnyToken, READS;
    AUDIT_READ = "audit.read", Requirement::Admin, READS;
    METRICS_READ = "metrics.read", Requirement::Admin, READS;
    DEVICES_READ = "devices.read", Requirement::AnyToken, READS;
    DEVICES_ADD = "devices.add", Requirement::AnyToken, DOES;
    DEVICES_REMOVE = "devices.remove", Requirement::AnyToken, DOES;
    DEVICES_STOP = "devices.stop", Requirement::AnyToken, DOES;
    PAIRINGS_BEGIN = "pairings.begin", Requirement::Anonymous, DOES;
    PAIRINGS_CLAIM = "pairings.claim", Requirement::Anonymous, AuditRule::Unknown;
    PAIRINGS_READ = "pairings.read", Requirement::AnyToken, READS;
    PAIRINGS_CONFIRM = "pairings.confirm", Requirement::AnyToken, DOES;
    PAIRINGS_REFUSE = "pairings.refuse", Requirement::AnyToken, DOES;
    GRANTS_READ = "grants.read", Requirement::AnyToken, READS;
    GRANTS_ADD = "grants.add", Requirement::AnyToken, DOES;
    GRANTS_REMOVE = "grants.remove", Requirement::AnyToken, DOES;
    ENVIRONMENTS_READ = "environments.read", Requirement::AnyToken, READS;
    ENVIRONMENTS_ADD = "environments.add", Requirement::AnyToken, DOES;
    ENVIRONMENTS_REMOVE = "environments.remove", Requirement::AnyToken, DOES;
    ENVIRONMENTS_USE = "environments.use", Requirement::Anonymous, AuditRule::Unknown;
    RELAY_CONNECT = "relay.connect", Requirement::Anonymous, DOES;
    RELAY_SET = "relay.set", Requirement::AnyToken, DOES;
    RELAY_FORGET = "relay.forget", Requirement::AnyToken, DOES;
    RELAY_READ = "relay.read", Requirement::Admin, READS;

    INFO_READ = "info.read", VIEWER, READS;
    SESSIONS_READ = "sessions.read", VIEWER, READS;
    WORKERS_WATCH = "workers.watch", VIEWER, READS;
    WAITS_READ = "waits.read", VIEWER, READS;
    PRESENCE_READ = "presence.read", VIEWER, READS;
    AGENTS_READ = "agents.read", VIEWER, READS;
    SESSIONS_CREATE = "sessions.create", CONTROLLER, DOES;
    SESSIONS_SEND = "sessions.send", CONTROLLER, DOES;
    SESSIONS_CANCEL = "sessions.cancel", CONTROLLER, DOES;
    WAITS_ANSWER = "waits.answer", CONTROLLER, DOES;
    SESSIONS_DELETE = "sessions.delete", OWNER, DOES;
    FILES_READ = "files.read", OWNER, READS;
    FILES_WRITE = "files.write", OWNER, DOES;
    CONFIG_READ = "config.read", OWNER, READS;
    CONFIG_WRITE = "config.write", OWNER, DOES;
    AGENTS_INSTALL = "agents.install", OWNER, DOES;
    ACP_READ = "acp.read", OWNER, READS;
    ACP_USE = "acp.use", OWNER, DOES;
    PROCESSES_READ = "processes.read", OWNER, READS;
    PROCESSES_USE = "processes.use", OWNER, DOES;
    TERMINALS_USE = "terminals.use", OWNER, DOES;

    OTHER = "other", Requirement::Admin, DOES;
    OTHER_OF_RUNTIME = "other", OWNER, DOES;
    NOWHERE = "nowhere", Requirement::AnyToken, READS;
}

/// The route that passes requests on.
pub const FORWARDED_ROUTE: &str = "/api/runtimes/{runtime_id}/v1/{*path}";

/// The hub's own routes.
const HUB_ROUTES: &[(&str, &str, &RouteAction)] = &[
    ("GET", "/api/health", HEALTH),
    ("GET", "/metrics", METRICS_READ),
    ("POST", "/api/login", LOGIN),
    ("POST", "/api/logout", LOGOUT),
    ("GET", "/api/whoami", WHOAMI),
    ("GET", "/api/users", USERS_READ),
    ("POST", "/api/users", USERS_ADD),
    ("GET", "/api/users/{user}", USERS_READ),
    ("PUT", "/api/users/{user}", USERS_SET),
    ("DELETE", "/api/users/{user}", USERS_REMOVE),
    ("GET", "/api/tokens", TOKENS_READ),
    ("POST", "/api/tokens", TOKENS_ADD),
    ("DELETE", "/api/tokens/{token_id}", TOKENS_REVOKE),
    ("GET", "/api/audit", AUDIT_READ),
    ("GET", "/api/runtimes", RUNTIMES_LIST),
    ("POST", "/api/runtimes", RUNTIMES_ADD),
    ("POST", "/api/runtimes/join-tokens", RUNTIMES_INVITE),
    ("GET", "/api/join/ws", RUNTIMES_JOIN),
    ("GET", "/api/runtimes/{runtime_id}", RUNTIMES_READ),
    ("DELETE", "/api/runtimes/{runtime_id}", RUNTIMES_REMOVE),
    ("GET", "/api/runtimes/{runtime_id}/workers", SESSIONS_READ),
    ("GET", "/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws", WORKERS_WATCH),
    ("GET", "/api/runtimes/{runtime_id}/workers/{worker_id}/presence", PRESENCE_READ),
    ("GET", "/api/devices", DEVICES_READ),
    ("POST", "/api/devices", DEVICES_ADD),
    ("GET", "/api/devices/{client_id}", DEVICES_READ),
    ("DELETE", "/api/devices/{client_id}", DEVICES_REMOVE),
    ("POST", "/api/devices/{client_id}/stop", DEVICES_STOP),
    ("GET", "/api/devices/pairings", PAIRINGS_READ),
    ("POST", "/api/devices/pairings", PAIRINGS_BEGIN),
    ("POST", "/api/devices/pairings/claim", PAIRINGS_CLAIM),
    ("GET", "/api/devices/pairings/{code}", PAIRINGS_READ),
    ("POST", "/api/devices/pairings/{code}/confirm", PAIRINGS_CONFIRM),
    ("POST", "/api/devices/pairings/{code}/refuse", PAIRINGS_REFUSE),
    ("GET", "/api/grants", GRANTS_READ),
    ("POST", "/api/grants", GRANTS_ADD),
    ("DELETE", "/api/grants/{grant_id}", GRANTS_REMOVE),
    ("GET", "/api/v1/relay/connect", RELAY_CONNECT),
    ("GET", "/api/v1/relay/environments", ENVIRONMENTS_READ),
    ("POST", "/api/v1/relay/environments", ENVIRONMENTS_ADD),
    ("GET", "/api/v1/relay/environments/{environment_id}", ENVIRONMENTS_READ),
    ("DELETE", "/api/v1/relay/environments/{environment_id}", ENVIRONMENTS_REMOVE),
    ("GET", "/api/v1/relay/environments/{environment_id}/connect", ENVIRONMENTS_USE),
    ("POST", "/api/v1/relay/environments/{environment_id}/requests", ENVIRONMENTS_USE),
    ("GET", "/api/v1/relay/environments/{environment_id}/mcp", ENVIRONMENTS_USE),
    ("POST", "/api/v1/relay/environments/{environment_id}/mcp", ENVIRONMENTS_USE),
    ("DELETE", "/api/v1/relay/environments/{environment_id}/mcp", ENVIRONMENTS_USE),
    ("DELETE", "/api/v1/relay/approvals/{wait_id}", RELAY_FORGET),
    ("GET", "/api/v1/relay/audit", RELAY_READ),
    ("GET", "/api/v1/relay/status", RELAY_READ),
    ("PUT", "/api/workspaces/{workspace}/relay", RELAY_SET),
    ("GET", "/api/waits", WAITS_LIST),
    ("GET", "/api/waits/events", WAITS_LIST),
    ("POST", "/api/waits/{runtime_id}/{wait_id}", WAITS_ANSWER),
];

/// The routes of a daemon, after `/v1`. A piece in braces stands for any.
const DAEMON_ROUTES: &[(&str, &[&str], &RouteAction)] = &[
    ("GET", &["health"], INFO_READ),
    ("GET", &["openapi.json"], INFO_READ),
    ("GET", &["sessions"], SESSIONS_READ),
    ("GET", &["sessions", "{id}"], SESSIONS_READ),
    ("POST", &["sessions", "{id}"], SESSIONS_CREATE),
    ("DELETE", &["sessions", "{id}"], SESSIONS_DELETE),
    ("POST", &["sessions", "{id}", "cancel"], SESSIONS_CANCEL),
    ("GET", &["sessions", "{id}", "events"], SESSIONS_READ),
    ("GET", &["sessions", "{id}", "events", "sse"], SESSIONS_READ),
    ("GET", &["sessions", "{id}", "inputs"], SESSIONS_READ),
    ("PUT", &["sessions", "{id}", "inputs", "{input_id}"], SESSIONS_SEND),
    ("DELETE", &["sessions", "{id}", "inputs", "{input_id}"], SESSIONS_SEND),
    ("GET", &["sessions", "{id}", "messages"], SESSIONS_READ),
    ("POST", &["sessions", "{id}", "messages"], SESSIONS_SEND),
    ("POST", &["sessions", "{id}", "permissions", "{permission_id}", "reply"], WAITS_ANSWER),
    ("POST", &["sessions", "{id}", "questions", "{question_id}", "reject"], WAITS_ANSWER),
    ("POST", &["sessions", "{id}", "questions", "{question_id}", "reply"], WAITS_ANSWER),
    ("GET", &["sessions", "{id}", "snapshot"], SESSIONS_READ),
    ("GET", &["waits"], WAITS_READ),
    ("GET", &["waits", "events"], WAITS_READ),
    ("POST", &["waits", "{wait_id}"], WAITS_ANSWER),
    ("GET", &["workers", "{worker_id}", "events", "ws"], WORKERS_WATCH),
    ("GET", &["agents"], AGENTS_READ),
    ("GET", &["agents", "{agent}", "models"], AGENTS_READ),
    ("GET", &["agents", "{agent}", "modes"], AGENTS_READ),
    ("POST", &["agents", "{agent}", "install"], AGENTS_INSTALL),
    ("GET", &["acp"], ACP_READ),
    ("GET", &["acp", "{server_id}"], ACP_READ),
    ("POST", &["acp", "{server_id}"], ACP_USE),
    ("PUT", &["acp", "{server_id}"], ACP_USE),
    ("DELETE", &["acp", "{server_id}"], ACP_USE),
    ("GET", &["config", "mcp"], CONFIG_READ),
    ("PUT", &["config", "mcp"], CONFIG_WRITE),
    ("DELETE", &["config", "mcp"], CONFIG_WRITE),
    ("GET", &["config", "skills"], CONFIG_READ),
    ("PUT", &["config", "skills"], CONFIG_WRITE),
    ("DELETE", &["config", "skills"], CONFIG_WRITE),
    ("GET", &["fs", "entries"], FILES_READ),
    ("GET", &["fs", "file"], FILES_READ),
    ("GET", &["fs", "stat"], FILES_READ),
    ("PUT", &["fs", "file"], FILES_WRITE),
    ("DELETE", &["fs", "entry"], FILES_WRITE),
    ("POST", &["fs", "mkdir"], FILES_WRITE),
    ("POST", &["fs", "move"], FILES_WRITE),
    ("POST", &["fs", "upload-batch"], FILES_WRITE),
    ("GET", &["processes"], PROCESSES_READ),
    ("POST", &["processes"], PROCESSES_USE),
    ("GET", &["processes", "{id}"], PROCESSES_READ),
    ("DELETE", &["processes", "{id}"], PROCESSES_USE),
    ("POST", &["processes", "{id}", "input"], PROCESSES_USE),
    ("GET", &["processes", "{id}", "logs"], PROCESSES_READ),
    ("POST", &["processes", "{id}", "resize"], PROCESSES_USE),
    ("POST", &["processes", "{id}", "signal"], PROCESSES_USE),
    ("GET", &["processes", "{id}", "terminal"], TERMINALS_USE),
    ("POST", &["processes", "{id}", "wait"], PROCESSES_READ),
];

/// What a request to a route of the hub's own asks for.
pub(crate) fn hub_action(method: &Method, route: Option<&str>) -> &'static RouteAction {
    let Some(route) = route else { return NOWHERE };
    let row = HUB_ROUTES.iter().find(|(known, at, _)| *known == name(method) && *at == route);
    row.map_or(OTHER, |(.., verb)| verb)
}

/// What a request to a daemon asks for; `pieces` is its path after `/v1`.
pub(crate) fn daemon_action(method: &Method, pieces: &[&str]) -> &'static RouteAction {
    let row = DAEMON_ROUTES.iter().find(|(known, at, _)| *known == name(method) && fits(at, pieces));
    row.map_or(OTHER_OF_RUNTIME, |(.., verb)| verb)
}

/// Whoever asks for the head of an answer might ask for all of it.
fn name(method: &Method) -> &str {
    if method == Method::HEAD { "GET" } else { method.as_str() }
}

fn fits(pattern: &[&str], pieces: &[&str]) -> bool {
    let fit = |(pattern, piece): (&&str, &&str)| pattern.starts_with('{') || pattern == piece;
    pattern.len() == pieces.len() && pattern.iter().zip(pieces).all(fit)
}

#[cfg(test)]
mod tests;
