//! What handlers call: one of each, shared by all requests.

use std::{sync::Arc, time::Duration};

use axum::{extract::FromRef, response::Response};
use server::{Metrics, Sockets, Stall};

use crate::{Config, Feeds, Key, NewToken, Registry, start::StartError, tokens::Tokens};

/// The files of a hub, in its directory.
const KEY: &str = "cursor.key";
const RUNTIMES: &str = "runtimes.json";
const TOKENS: &str = "tokens.json";

/// How many people watch at a time.
const SOCKETS_MAX: usize = 10_000;

/// The state behind all routes.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) registry: Registry,
    pub(crate) feeds: Feeds,
    pub(crate) tokens: Tokens,
    pub(crate) sockets: Sockets,
    pub(crate) metrics: Metrics,
    stall: Duration,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl FromRef<App> for Stall {
    fn from_ref(app: &App) -> Self {
        Self(app.stall)
    }
}

impl App {
    /// As its files have it, which are made if there are none; the first time with a token that is shown once.
    pub(crate) fn new(config: &Config) -> Result<(Self, Option<NewToken>), StartError> {
        let directory = &config.data_dir;
        let files = |source| StartError::Files { path: directory.clone(), source };
        std::fs::create_dir_all(directory).map_err(files)?;
        let key = Key::open(&directory.join(KEY)).map_err(files)?;
        let (tokens, new) = Tokens::open(directory.join(TOKENS)).map_err(files)?;
        let app = Self(Arc::new(Parts {
            registry: Registry::open(directory.join(RUNTIMES))?,
            feeds: Feeds::new(key, config.backlog),
            tokens,
            sockets: Sockets::new(SOCKETS_MAX),
            metrics: Metrics::default(),
            stall: config.stall,
        }));
        Ok((app, new))
    }

    /// Everything that is counted, as a page.
    pub(crate) fn metrics_page(&self) -> server::Result<Response> {
        server::metrics::page(|registry| {
            self.metrics.register(registry);
            self.sockets.register(registry);
            let registry = registry.sub_registry_with_prefix("hub");
            self.registry.register(registry);
            self.feeds.register(registry);
        })
    }
}
