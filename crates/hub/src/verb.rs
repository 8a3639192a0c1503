//! What can be asked of a hub, each by a name, and what it needs.
//!
//! Two tables: the hub's own routes, as the router knows them, and those of a daemon, which are passed on. What a table
//! does not know needs the most.

use http::{Method, StatusCode};
use protocol::hub::Role;

use crate::routes;

/// What somebody asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    pub(crate) entry: Entry,
}

/// What is left of it in the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An entry, as it changes something.
    Always,
    /// An entry if it is refused, as it changes nothing.
    Refused,
    /// An entry if it is not known who asks: what those do who are is in another record, or comes of something that is in this.
    Unknown,
}

impl Verb {
    /// Whether an answer with this status leaves an entry in the audit.
    pub(crate) fn leaves_entry(&self, status: StatusCode) -> bool {
        let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        match self.entry {
            // What anybody can ask is refused so often and no oftener. What makes no sense, or comes too often, leaves nothing:
            // so many of these would push out everything else.
            Entry::Always if self.need == Need::Nothing => is_refused || !status.is_client_error(),
            Entry::Always => true,
            Entry::Refused => is_refused,
            Entry::Unknown => status == StatusCode::UNAUTHORIZED,
        }
    }

    /// Whether somebody who does it drives the worker: they send, change, answer or cancel something.
    pub(crate) fn drives(&self) -> bool {
        [SESSIONS_SEND, SESSIONS_CANCEL, WAITS_ANSWER].contains(&self)
    }

    /// Whether there is a session once it is done.
    pub(crate) fn creates_session(&self) -> bool {
        self == SESSIONS_CREATE
    }

    /// Whether the session is gone once it is done.
    pub(crate) fn ends_session(&self) -> bool {
        self == SESSIONS_DELETE
    }

    /// Whether it only tells callers who they are, or lets them leave.
    pub(crate) fn only_identifies(&self) -> bool {
        [WHOAMI, LOGOUT].contains(&self)
    }

    /// Whether somebody who does it watches a worker.
    pub(crate) fn watches(&self) -> bool {
        self == WORKERS_WATCH
    }
}

/// What is needed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing.
    Nothing,
    /// To be known. What they then get is their own.
    Token,
    /// A role in the workspace of the runtime.
    Role(Role),
    /// To manage the hub.
    Admin,
}

/// Declares verbs: a name, what it needs, and what is left of it.
macro_rules! verbs {
    ($($verb:ident = $name:literal, $need:expr, $entry:expr;)*) => {$(
        const $verb: &Verb = &Verb { name: $name, need: $need, entry: $entry };
    )*};
}

const VIEWER: Need = Need::Role(Role::Viewer);
const CONTROLLER: Need = Need::Role(Role::Controller);
const OWNER: Need = Need::Role(Role::Owner);

const READS: Entry = Entry::Refused;
const DOES: Entry = Entry::Always;

verbs! {
    HEALTH = "health", Need::Nothing, READS;
    LOGIN = "login", Need::Nothing, DOES;
    LOGOUT = "logout", Need::Token, DOES;
    WHOAMI = "whoami", Need::Token, READS;
    RUNTIMES_LIST = "runtimes.list", Need::Token, READS;
    RUNTIMES_READ = "runtimes.read", VIEWER, READS;
    RUNTIMES_ADD = "runtimes.add", Need::Admin, DOES;
    RUNTIMES_INVITE = "runtimes.invite", Need::Admin, DOES;
    RUNTIMES_JOIN = "runtimes.join", Need::Nothing, DOES;
    RUNTIMES_REMOVE = "runtimes.remove", Need::Admin, DOES;
    USERS_READ = "users.read", Need::Admin, READS;
    USERS_ADD = "users.add", Need::Admin, DOES;
    USERS_SET = "users.set", Need::Admin, DOES;
    USERS_REMOVE = "users.remove", Need::Admin, DOES;
    TOKENS_READ = "tokens.read", Need::Token, READS;
    TOKENS_ADD = "tokens.add", Need::Token, DOES;
    TOKENS_REVOKE = "tokens.revoke", Need::Token, DOES;
    WAITS_LIST = "waits.list", Need::Token, READS;
    AUDIT_READ = "audit.read", Need::Admin, READS;
    METRICS_READ = "metrics.read", Need::Admin, READS;
    DEVICES_READ = "devices.read", Need::Token, READS;
    DEVICES_ADD = "devices.add", Need::Token, DOES;
    DEVICES_REMOVE = "devices.remove", Need::Token, DOES;
    DEVICES_STOP = "devices.stop", Need::Token, DOES;
    PAIRINGS_BEGIN = "pairings.begin", Need::Nothing, DOES;
    PAIRINGS_CLAIM = "pairings.claim", Need::Nothing, Entry::Unknown;
    PAIRINGS_READ = "pairings.read", Need::Token, READS;
    PAIRINGS_CONFIRM = "pairings.confirm", Need::Token, DOES;
    PAIRINGS_REFUSE = "pairings.refuse", Need::Token, DOES;
    GRANTS_READ = "grants.read", Need::Token, READS;
    GRANTS_ADD = "grants.add", Need::Token, DOES;
    GRANTS_REMOVE = "grants.remove", Need::Token, DOES;
    ENVIRONMENTS_READ = "environments.read", Need::Token, READS;
    ENVIRONMENTS_ADD = "environments.add", Need::Token, DOES;
    ENVIRONMENTS_REMOVE = "environments.remove", Need::Token, DOES;
    ENVIRONMENTS_USE = "environments.use", Need::Nothing, Entry::Unknown;
    RELAY_CONNECT = "relay.connect", Need::Nothing, DOES;
    RELAY_SET = "relay.set", Need::Token, DOES;
    RELAY_FORGET = "relay.forget", Need::Token, DOES;
    RELAY_READ = "relay.read", Need::Admin, READS;

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

    OTHER = "other", Need::Admin, DOES;
    OTHER_OF_RUNTIME = "other", OWNER, DOES;
    NOWHERE = "nowhere", Need::Token, READS;
}

/// The route that passes requests on.
pub(crate) const FORWARD: &str = "/api/runtimes/{runtime_id}/v1/{*path}";

/// The hub's own routes.
const OURS: &[(&str, &str, &Verb)] = &[
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
    ("GET", routes::join::PATH, RUNTIMES_JOIN),
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
    ("GET", routes::relay::connect::PATH, RELAY_CONNECT),
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
const THEIRS: &[(&str, &[&str], &Verb)] = &[
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
pub(crate) fn ours(method: &Method, route: Option<&str>) -> &'static Verb {
    let Some(route) = route else { return NOWHERE };
    let row = OURS.iter().find(|(known, at, _)| *known == name(method) && *at == route);
    row.map_or(OTHER, |(.., verb)| verb)
}

/// What a request to a daemon asks for; `pieces` is its path after `/v1`.
pub(crate) fn theirs(method: &Method, pieces: &[&str]) -> &'static Verb {
    let row = THEIRS.iter().find(|(known, at, _)| *known == name(method) && fits(at, pieces));
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
