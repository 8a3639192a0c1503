//! What handlers call: one of each, shared by all requests.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{extract::FromRef, response::Response};
use files::private_file;
use hub_access::{AccessGuard, AccessLimits, AuditLog, UserStore};
use server::{HostPolicy, HttpMetrics, OpenWebSockets, StallTimeout, metrics::MetricsFormat};
use tokio_util::sync::CancellationToken;
use websocket::KeepAlive;

use crate::{
    Config, Feeds, NewToken, Registry, SigningKey,
    inbox::Inbox,
    policy::{CurrentPolicy, RolePolicy},
    presence::Presences,
    relay::{OpenError, Relay},
    resource_workspaces::ResourceWorkspaces,
    start::StartError,
};

/// The files of a hub, in its directory.
const KEY: &str = "cursor.key";
const RUNTIMES: &str = "runtimes.json";
pub(crate) const PEOPLE: &str = "people.json";
const AUDIT: &str = "audit.db";

/// How many people watch at a time.
const SOCKETS_MAX: usize = 10_000;

/// The state behind all routes.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) registry: Arc<Registry>,
    pub(crate) feeds: Feeds,
    pub(crate) inbox: Inbox,
    pub(crate) presences: Presences,
    /// Users, tokens, limits, policy and audit: everything that the guard decides with.
    pub(crate) access: Arc<AccessGuard>,
    /// Devices that are lent.
    pub(crate) relay: Relay,
    pub(crate) sockets: OpenWebSockets,
    /// How long those at the other end of a stream may be silent.
    pub(crate) keep_alive: KeepAlive,
    pub(crate) metrics: HttpMetrics,
    /// Ends what would go on for ever.
    pub(crate) stop: CancellationToken,
    pub(crate) stall: Duration,
    /// How long a runtime may take to begin a response that needs no agent and no work.
    pub(crate) response_timeout: Duration,
    /// Where runtimes find the hub, if somebody said so; …
    public_url: Option<String>,
    /// … otherwise where it listens.
    address: OnceLock<SocketAddr>,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl FromRef<App> for StallTimeout {
    fn from_ref(app: &App) -> Self {
        Self(app.stall)
    }
}

impl App {
    /// As its files have it, which are made if there are none; the first time with a token that is shown once.
    pub(crate) async fn new(config: &Config) -> Result<(Self, Option<NewToken>), StartError> {
        let directory = &config.data_dir;
        let files = |source| StartError::Files { path: directory.clone(), source };
        private_file::create_directory(directory).map_err(files)?;
        let key = SigningKey::open(&directory.join(KEY)).map_err(files)?;
        let registry = Registry::open(directory.join(RUNTIMES), config.pace.keep_alive.idle_timeout)?;
        if let Some(file) = &config.runtimes {
            registry.name(file)?;
        }
        let registry = Arc::new(registry);
        // Before there is a token: one that is not shown now is never.
        let policies = Arc::new(CurrentPolicy::open(Arc::new(RolePolicy), config.policy.clone())?);
        let (people, new) = UserStore::open(directory.join(PEOPLE)).map_err(files)?;
        let hosts = HostPolicy {
            loopback: config.address.ip().is_loopback(),
            hosts: config.hosts.clone(),
            origins: config.cors.origins.clone(),
        };
        let feeds = Feeds::new(key.clone(), config.backlog).with_pace(config.pace);
        let inbox = Inbox::new(Arc::clone(&registry), Arc::clone(&policies), config.pace);
        let relay = Relay::open(
            directory,
            (Arc::clone(&registry), feeds.clone()),
            (inbox.clone(), people.clone()),
            (config.approval_max, config.frame_bytes_max),
        );
        let relay = relay.await;
        let relay = relay.map_err(|error| match error {
            OpenError::File(source) => files(source),
            OpenError::Ledger(source) => StartError::Audit(source),
        })?;
        let access = Arc::new(AccessGuard {
            users: people,
            limits: AccessLimits::new(config.failures, config.requests),
            audit: AuditLog::open(&directory.join(AUDIT)).await.map_err(StartError::Audit)?,
            hosts,
            key,
            policy: policies,
            workspaces: Arc::new(ResourceWorkspaces::new(Arc::clone(&registry), relay.clone())),
        });
        let app = Self(Arc::new(Parts {
            relay,
            inbox,
            registry,
            presences: Presences::default(),
            feeds,
            access,
            sockets: OpenWebSockets::new(SOCKETS_MAX),
            keep_alive: config.pace.keep_alive,
            metrics: HttpMetrics::default(),
            stop: CancellationToken::new(),
            stall: config.stall,
            response_timeout: config.pace.response_timeout,
            public_url: config.public_url.clone(),
            address: OnceLock::new(),
        }));
        Ok((app, new))
    }

    /// It listens there.
    pub(crate) fn listens_on(&self, address: SocketAddr) {
        let _ = self.address.set(address);
    }

    /// Where runtimes find the hub, without a `/` at its end.
    pub(crate) fn public_url(&self) -> String {
        if let Some(url) = &self.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        let Some(address) = self.address.get() else { return String::new() };
        // Those on this machine; others need to be told another.
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        format!("http://{}", SocketAddr::new(ip, address.port()))
    }

    /// Everything that is counted, as a page.
    pub(crate) fn metrics_page(&self, format: MetricsFormat) -> server::Result<Response> {
        server::metrics::page(format, |registry| {
            self.metrics.register(registry);
            self.sockets.register(registry);
            let registry = registry.sub_registry_with_prefix("hub");
            self.registry.register(registry);
            self.feeds.register(registry);
            self.relay.register(registry.sub_registry_with_prefix("relay"));
        })
    }
}
