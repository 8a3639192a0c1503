//! What can be asked of a hub, each by a name, and what it needs.
//!
//! Two tables: the hub's own routes, as the router knows them, and those of a daemon, which are passed on. What a table
//! does not know needs the most.

use http::Method;
use protocol::hub::Role;

use crate::routes;

/// What somebody asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    /// It changes nothing, so it leaves no entry unless it is refused.
    pub(crate) reads: bool,
}

impl Verb {
    /// Whether somebody who does it drives the worker: they send, change, answer or cancel something.
    pub(crate) fn drives(&self) -> bool {
        [SESSIONS_SEND, SESSIONS_CANCEL, WAITS_ANSWER].contains(&self)
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

/// Declares verbs: a name, what it needs, and whether it only reads.
macro_rules! verbs {
    ($($verb:ident = $name:literal, $need:expr, $reads:literal;)*) => {$(
        const $verb: &Verb = &Verb { name: $name, need: $need, reads: $reads };
    )*};
}

const VIEWER: Need = Need::Role(Role::Viewer);
const CONTROLLER: Need = Need::Role(Role::Controller);
const OWNER: Need = Need::Role(Role::Owner);

verbs! {
    HEALTH = "health", Need::Nothing, true;
    LOGIN = "login", Need::Nothing, false;
    LOGOUT = "logout", Need::Token, false;
    WHOAMI = "whoami", Need::Token, true;
    RUNTIMES_LIST = "runtimes.list", Need::Token, true;
    RUNTIMES_READ = "runtimes.read", VIEWER, true;
    RUNTIMES_ADD = "runtimes.add", Need::Admin, false;
    RUNTIMES_INVITE = "runtimes.invite", Need::Admin, false;
    RUNTIMES_JOIN = "runtimes.join", Need::Nothing, false;
    RUNTIMES_REMOVE = "runtimes.remove", Need::Admin, false;
    USERS_READ = "users.read", Need::Admin, true;
    USERS_ADD = "users.add", Need::Admin, false;
    USERS_SET = "users.set", Need::Admin, false;
    USERS_REMOVE = "users.remove", Need::Admin, false;
    TOKENS_READ = "tokens.read", Need::Token, true;
    TOKENS_ADD = "tokens.add", Need::Token, false;
    TOKENS_REVOKE = "tokens.revoke", Need::Token, false;
    WAITS_LIST = "waits.list", Need::Token, true;
    AUDIT_READ = "audit.read", Need::Admin, true;
    METRICS_READ = "metrics.read", Need::Admin, true;

    INFO_READ = "info.read", VIEWER, true;
    SESSIONS_READ = "sessions.read", VIEWER, true;
    WORKERS_WATCH = "workers.watch", VIEWER, true;
    WAITS_READ = "waits.read", VIEWER, true;
    PRESENCE_READ = "presence.read", VIEWER, true;
    AGENTS_READ = "agents.read", VIEWER, true;
    SESSIONS_CREATE = "sessions.create", CONTROLLER, false;
    SESSIONS_SEND = "sessions.send", CONTROLLER, false;
    SESSIONS_CANCEL = "sessions.cancel", CONTROLLER, false;
    WAITS_ANSWER = "waits.answer", CONTROLLER, false;
    SESSIONS_DELETE = "sessions.delete", OWNER, false;
    FILES_READ = "files.read", OWNER, true;
    FILES_WRITE = "files.write", OWNER, false;
    CONFIG_READ = "config.read", OWNER, true;
    CONFIG_WRITE = "config.write", OWNER, false;
    AGENTS_INSTALL = "agents.install", OWNER, false;
    ACP_READ = "acp.read", OWNER, true;
    ACP_USE = "acp.use", OWNER, false;
    PROCESSES_READ = "processes.read", OWNER, true;
    PROCESSES_USE = "processes.use", OWNER, false;
    TERMINALS_USE = "terminals.use", OWNER, false;

    OTHER = "other", Need::Admin, false;
    OTHER_OF_RUNTIME = "other", OWNER, false;
    NOWHERE = "nowhere", Need::Token, true;
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
