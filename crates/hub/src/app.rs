//! What handlers call: one of each, shared by all requests.

use std::{sync::Arc, time::Duration};

use axum::extract::FromRef;
use server::{Sockets, Stall, observed::Patience};

use crate::{
    Config, Feeds, Key, NewToken, Registry,
    policy::{PassThrough, Policies},
    start::StartError,
    tokens::Tokens,
};

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
    pub(crate) policies: Arc<Policies>,
    pub(crate) patience: Patience,
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
            registry: Registry::open(directory.join(RUNTIMES), config.pace.patience.silence_max)?,
            feeds: Feeds::new(key, config.backlog).with_pace(config.pace),
            tokens,
            sockets: Sockets::new(SOCKETS_MAX),
            policies: Arc::new(Policies::open(Arc::new(PassThrough), config.policy.clone())?),
            patience: config.pace.patience,
            stall: config.stall,
        }));
        Ok((app, new))
    }
}
