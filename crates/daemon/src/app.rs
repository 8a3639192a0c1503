//! What handlers call: one of each, shared by all requests.

use std::{sync::Arc, time::Duration};

use acp::Instances;
use agents::{Catalog, Installer};
use axum::{extract::FromRef, response::Response};
use files::{Root, VirtualPath};
use journal::Retention;
use process::Limits;
use server::{Metrics, Sockets, Stall};
use user_processes::Processes;
use worker_runtime::Sessions;

use crate::{Config, settings::Configured, skills::Skills, start::StartError, store::Store};

/// How many instances a daemon runs at most; each is a process with its queues.
const INSTANCES_MAX: usize = 1024;

/// How many sessions a daemon keeps at most: what is known of each is in memory, 2 KiB or so.
const SESSIONS_MAX: usize = 10_000;

/// How many WebSockets are open at a time.
const SOCKETS_MAX: usize = 1024;

/// The state behind all routes.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) installer: Installer,
    pub(crate) instances: Instances,
    pub(crate) processes: Processes,
    pub(crate) sessions: Sessions,
    pub(crate) sockets: Sockets,
    pub(crate) metrics: Metrics,
    pub(crate) files: Root,
    pub(crate) store: Store,
    pub(crate) timeout_max: Duration,
    pub(crate) stall: Duration,
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
    pub(crate) fn new(config: &Config) -> Result<Self, StartError> {
        let catalog = Catalog::new(&config.own_program, config.agents.clone())?;
        let installer = Installer::new(config.install.clone(), catalog);
        let instances = Instances::new(
            acp::Config {
                retention: Retention { events: config.events_max, bytes: config.events_bytes_max },
                limits: Limits::default(),
                grace: config.grace,
                instances_max: INSTANCES_MAX,
                env_remove: config.env_remove.clone(),
            },
            installer.clone(),
        );
        let processes = Processes::new(user_processes::Config {
            current_dir: config.current_dir.clone(),
            env_remove: config.env_remove.clone(),
            grace: config.grace,
            limits: user_processes::Limits::default(),
        });
        let files = match &config.fs_root {
            Some(directory) => Root::open(directory)?,
            None => Root::whole()?.with_base(&VirtualPath::parse(&config.current_dir)?),
        };
        let store = Store::new(&config.data_dir.join("config"));
        let sessions = Sessions::new(
            worker_runtime::Config {
                directory: config.data_dir.join("sessions"),
                current_dir: config.current_dir.clone(),
                env_remove: config.env_remove.clone(),
                grace: config.grace,
                patience: config.wait_timeout,
                idle: config.session_idle,
                sessions_max: SESSIONS_MAX,
            },
            installer.clone(),
            Arc::new(Configured::new(
                store.clone(),
                Skills::new(config.data_dir.join("skills"), config.env_remove.clone()),
            )),
        );
        Ok(Self(Arc::new(Parts {
            installer,
            instances,
            processes,
            sessions,
            sockets: Sockets::new(SOCKETS_MAX),
            metrics: Metrics::default(),
            files,
            store,
            timeout_max: config.timeout_max,
            stall: config.stall,
        })))
    }

    /// Everything that is counted, as a page.
    pub(crate) fn metrics_page(&self) -> server::Result<Response> {
        server::metrics::page(|registry| {
            self.metrics.register(registry);
            self.sockets.register(registry);
            self.sessions.register(registry);
            self.instances.register(registry);
            self.installer.register(registry);
        })
    }

    /// Ends everything that runs.
    pub(crate) async fn shutdown(&self) {
        tokio::join!(
            self.instances.shutdown(),
            self.processes.shutdown(),
            self.sessions.shutdown(),
            self.installer.shutdown()
        );
    }
}
