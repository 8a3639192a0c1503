//! Everything that a request can ask the hub to do.

/// Declares the actions with their names.
macro_rules! actions {
    ($($action:ident = $name:literal,)*) => {
        /// An action, as messages, the policy and the audit log name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Action {
            $(#[doc = concat!("`", $name, "`.")] $action,)*
        }

        impl Action {
            /// All actions, in their order.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$action),*];

            /// The name in messages and in the audit log, such as `sessions.send`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$action => $name,)* }
            }
        }
    };
}

actions! {
    Health = "health",
    Login = "login",
    Logout = "logout",
    Whoami = "whoami",
    MetricsRead = "metrics.read",
    AuditRead = "audit.read",
    UsersRead = "users.read",
    UsersAdd = "users.add",
    UsersSet = "users.set",
    UsersRemove = "users.remove",
    TokensRead = "tokens.read",
    TokensAdd = "tokens.add",
    TokensRevoke = "tokens.revoke",
    RuntimesList = "runtimes.list",
    RuntimesRead = "runtimes.read",
    RuntimesAdd = "runtimes.add",
    RuntimesInvite = "runtimes.invite",
    RuntimesJoin = "runtimes.join",
    RuntimesRemove = "runtimes.remove",
    DevicesRead = "devices.read",
    DevicesAdd = "devices.add",
    DevicesRemove = "devices.remove",
    DevicesStop = "devices.stop",
    PairingsBegin = "pairings.begin",
    PairingsClaim = "pairings.claim",
    PairingsRead = "pairings.read",
    PairingsConfirm = "pairings.confirm",
    PairingsRefuse = "pairings.refuse",
    GrantsRead = "grants.read",
    GrantsAdd = "grants.add",
    GrantsRemove = "grants.remove",
    EnvironmentsRead = "environments.read",
    EnvironmentsAdd = "environments.add",
    EnvironmentsRemove = "environments.remove",
    EnvironmentsUse = "environments.use",
    RelayConnect = "relay.connect",
    RelaySet = "relay.set",
    RelayForget = "relay.forget",
    RelayRead = "relay.read",
    WaitsList = "waits.list",
    WaitsRead = "waits.read",
    WaitsAnswer = "waits.answer",
    InfoRead = "info.read",
    WorkersWatch = "workers.watch",
    PresenceRead = "presence.read",
    SessionsRead = "sessions.read",
    SessionsCreate = "sessions.create",
    SessionsSend = "sessions.send",
    SessionsCancel = "sessions.cancel",
    SessionsDelete = "sessions.delete",
    AgentsRead = "agents.read",
    AgentsInstall = "agents.install",
    AcpRead = "acp.read",
    AcpUse = "acp.use",
    ConfigRead = "config.read",
    ConfigWrite = "config.write",
    FilesRead = "files.read",
    FilesWrite = "files.write",
    ProcessesRead = "processes.read",
    ProcessesUse = "processes.use",
    TerminalsUse = "terminals.use",
    // The rest are for requests that the table does not list.
    Unlisted = "other",
    UnknownPath = "nowhere",
}

impl Action {
    /// Whether the caller drives the worker: sends, changes, answers or cancels something.
    pub const fn drives(self) -> bool {
        matches!(self, Self::SessionsSend | Self::SessionsCancel | Self::WaitsAnswer)
    }

    /// Whether it may start an agent in a directory that the query names, to ask what the agent offers.
    pub const fn asks_agents(self) -> bool {
        matches!(self, Self::AgentsRead)
    }

    /// Whether a session exists once it is done.
    pub const fn creates_session(self) -> bool {
        matches!(self, Self::SessionsCreate)
    }

    /// Whether the session is gone once it is done.
    pub const fn ends_session(self) -> bool {
        matches!(self, Self::SessionsDelete)
    }

    /// Whether it only returns the caller's own identity or logs the caller out. A browser may do that without its page key,
    /// which it has lost when the page was reloaded.
    pub(crate) const fn only_identifies(self) -> bool {
        matches!(self, Self::Whoami | Self::Logout)
    }

    /// Whether the caller watches a worker.
    pub(crate) const fn watches(self) -> bool {
        matches!(self, Self::WorkersWatch)
    }
}
