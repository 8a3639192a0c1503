//! The state behind all routes: one of each service, shared by all requests.

use std::{sync::Arc, time::Duration};

use acp::InstanceRegistry;
use agent_catalog::Catalog;
use agent_install::Installer;
use axum::{extract::FromRef, response::Response};
use files::{RootDirectory, RootedPath};
use journal::Retention;
use process::ProcessLimits;
use server::{HttpMetrics, OpenWebSockets, StallTimeout, metrics::MetricsFormat};
use user_processes::UserProcesses;
use worker_runtime::Sessions;

use crate::{
    Config, config_store::ConfigStore, daemon_server::StartError,
    directory_settings::StoredDirectorySettings, skills::SkillResolver,
};

/// How many ACP instances a daemon runs at most. Each is a process with its queues.
const INSTANCES_MAX: usize = 1024;

/// How many sessions a daemon stores at most. Each takes about 2 KiB of memory.
const SESSIONS_MAX: usize = 10_000;

/// How long an agent may take to become ready. Some are 300 MB and start on a busy machine.
const AGENT_READY_TIMEOUT: Duration = Duration::from_secs(120);

/// How many WebSockets may be open at a time.
const SOCKETS_MAX: usize = 1024;

/// The state behind all routes.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>);

pub(crate) struct AppState {
    pub(crate) installer: Installer,
    pub(crate) instances: InstanceRegistry,
    pub(crate) processes: UserProcesses,
    pub(crate) sessions: Sessions,
    pub(crate) sockets: OpenWebSockets,
    pub(crate) metrics: HttpMetrics,
    pub(crate) files: RootDirectory,
    pub(crate) store: ConfigStore,
    pub(crate) timeout_max: Duration,
    pub(crate) stall_timeout: Duration,
}

impl std::ops::Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}

impl FromRef<App> for StallTimeout {
    fn from_ref(app: &App) -> Self {
        Self(app.stall_timeout)
    }
}

impl App {
    pub(crate) fn new(config: &Config) -> Result<Self, StartError> {
        let settings = &config.settings;
        let catalog = Catalog::new(&config.own_program, config.agents.clone())?;
        let installer = Installer::new(config.install.clone(), catalog);
        let instances = InstanceRegistry::new(
            acp::Config {
                retention: Retention { events: settings.events_max, bytes: settings.events_bytes_max },
                limits: ProcessLimits::default(),
                grace: settings.grace(),
                instances_max: INSTANCES_MAX,
                env_remove: config.env_remove.clone(),
            },
            installer.clone(),
        );
        let processes = UserProcesses::new(user_processes::Config {
            current_dir: config.current_dir.clone(),
            env_remove: config.env_remove.clone(),
            grace: settings.grace(),
            limits: user_processes::UserProcessLimits::default(),
        });
        let files = match &settings.fs_root {
            Some(directory) => RootDirectory::open(directory)?,
            None => RootDirectory::open_filesystem()?.with_base(&RootedPath::parse(&config.current_dir)?),
        };
        let store = ConfigStore::new(&config.data_dir.join("config"));
        let sessions = Sessions::new(
            worker_runtime::Config {
                directory: config.data_dir.join("sessions"),
                current_dir: config.current_dir.clone(),
                env_remove: config.env_remove.clone(),
                ready_timeout: AGENT_READY_TIMEOUT,
                grace: settings.grace(),
                answer_timeout: settings.wait_timeout(),
                idle: settings.session_idle,
                sessions_max: SESSIONS_MAX,
            },
            installer.clone(),
            Arc::new(StoredDirectorySettings::new(
                store.clone(),
                SkillResolver::new(config.data_dir.join("skills"), config.env_remove.clone()),
            )),
        );
        Ok(Self(Arc::new(AppState {
            installer,
            instances,
            processes,
            sessions,
            sockets: OpenWebSockets::new(SOCKETS_MAX),
            metrics: HttpMetrics::default(),
            files,
            store,
            timeout_max: settings.timeout_max(),
            stall_timeout: settings.stall_timeout(),
        })))
    }

    /// The metrics of all services.
    pub(crate) fn metrics_page(&self, format: MetricsFormat) -> server::Result<Response> {
        server::metrics::page(format, |registry| {
            self.metrics.register(registry);
            self.sockets.register(registry);
            self.sessions.register(registry);
            self.instances.register_metrics(registry);
            self.installer.register(registry);
        })
    }

    /// Stops all instances, processes, sessions and installations.
    pub(crate) async fn shutdown(&self) {
        tokio::join!(
            self.instances.shutdown(),
            self.processes.shutdown(),
            self.sessions.shutdown(),
            self.installer.shutdown()
        );
    }
}
