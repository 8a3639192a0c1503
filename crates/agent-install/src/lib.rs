//! Putting agents on disk.
//!
//! An agent is made of components, and each component has one installation at a time, whoever asks for it and from
//! whichever process. Whoever asks while it runs waits for the same one; whoever leaves ends nothing. A component comes
//! into being whole, by a rename, so that being killed at any moment leaves nothing that could be taken for it.

mod archive;
mod bundle;
mod cache;
mod digest;
mod download;
mod error;
mod http;
mod installation;
mod lock;
mod look;
mod manifest;
mod metrics;
mod npm;
mod offer;
mod origin;
mod packages;
mod pip;
mod presence;
mod progress;
mod prune;
mod registry;
mod store;
mod tool;
mod trees;
mod unpack;
mod work;

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use process::ProcessSpec;
use prometheus_client::registry::Registry;
use protocol::AgentName;
use secrecy::SecretString;
use tokio::sync::{OnceCell, Semaphore, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use cache::Cache;
pub use error::{Attempt, BundleError, Error, Fault, MissingChecksum, ReadyError};
pub use http::Mirror;
pub use installation::{Installation, InstallationOutcome};
pub use manifest::Manifest;
pub use npm::ConfigError;
pub use presence::Presence;
pub use progress::{Installed, Progress};
pub use store::{Store, Stored};

use agent_catalog::{
    Catalog, ComponentName, Credential, Definition, Launch, Platform, Purpose, SearchPath, UnknownAgent,
    UnknownPlatform, UserEnvironment, Want, find_credentials, lent_credentials,
};
use http::Http;
use installation::outcome;
use look::Said;
use metrics::Metrics;
use progress::Teller;
use work::Task;

/// How many files are fetched at a time; more would only share the same line.
const DOWNLOADS_MAX: usize = 4;

/// How long an agent may take to say whether the user is logged in.
const LOGIN_STATUS_MAX: Duration = Duration::from_secs(10);

/// The values of a flag that mean no.
const NO: [&str; 4] = ["0", "false", "no", "off"];

/// How things are installed.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Where components are kept.
    pub directory: PathBuf,
    /// Where verified downloads are kept; nowhere if none.
    pub cache: Option<PathBuf>,
    /// Whether anything may be installed at all.
    pub allowed: bool,
    /// What stands in for the servers of the catalog, in the order in which it is tried.
    pub mirrors: Vec<Mirror>,
    /// Another ACP registry than the one that is part of this program.
    pub acp_registry: Option<String>,
    /// Files of certificates that are trusted besides those of the system.
    pub certificates: Vec<PathBuf>,
    /// How long a server may be silent; 30 s if none.
    pub silence_max: Option<Duration>,
    /// The variables and the home of whoever runs us: how npm is configured, and which credentials there are.
    pub environment: UserEnvironment,
    /// Where programs are looked up.
    pub search_path: SearchPath,
    /// Variables of ours that the tools do not inherit.
    pub env_remove: Vec<OsString>,
}

/// Puts agents on disk. Cheap to clone; clones share their work.
#[derive(Debug, Clone)]
pub struct Installer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    platform: Result<Platform, UnknownPlatform>,
    store: Store,
    catalog: RwLock<Arc<Catalog>>,
    /// Filled once the registry was asked for that the configuration names.
    registry: OnceCell<()>,
    downloads: Semaphore,
    /// The installations that run.
    running: Mutex<HashMap<Task, watch::Receiver<Progress>>>,
    /// What programs on the `PATH` said when they were asked for their versions.
    said: Mutex<BTreeMap<PathBuf, Said>>,
    metrics: Metrics,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// What somebody wants installed.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Which version of the agent itself.
    pub want: Want,
    /// Whether to install again what is there.
    pub again: bool,
    /// Whether everything is to be ours, and nothing taken from the `PATH`.
    pub apart: bool,
    /// What to do with files that cannot be verified.
    pub unverified: UnverifiedPolicy,
}

/// What to do with files that have no checksum to verify them with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum UnverifiedPolicy {
    /// Do not install them.
    #[default]
    Refuse,
    /// Install them, and record that they were not verified.
    Allow,
}

impl UnverifiedPolicy {
    /// The policy of a request or command with a flag that allows unverified files.
    pub fn from_flag(allow: bool) -> Self {
        if allow { Self::Allow } else { Self::Refuse }
    }

    /// The checksum to verify a file with; `None` if there is none and the file is allowed all the same.
    fn check<T>(self, checksum: Result<T, MissingChecksum>) -> Result<Option<T>, Fault> {
        match (checksum, self) {
            (Ok(checksum), _) => Ok(Some(checksum)),
            (Err(_), Self::Allow) => Ok(None),
            (Err(missing), Self::Refuse) => Err(Fault::Unverified(missing)),
        }
    }
}

impl Installer {
    /// For the agents in `catalog`.
    pub fn new(config: Config, catalog: Catalog) -> Self {
        let inner = Inner {
            platform: Platform::here(),
            store: Store::new(config.directory.clone()),
            catalog: RwLock::new(Arc::new(catalog)),
            registry: OnceCell::new(),
            downloads: Semaphore::new(DOWNLOADS_MAX),
            running: Mutex::default(),
            said: Mutex::default(),
            metrics: Metrics::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            config,
        };
        Self { inner: Arc::new(inner) }
    }

    /// The agent of that name. One that we do not know may be in the registry that the configuration names.
    pub async fn agent(&self, name: &AgentName) -> Option<Arc<Definition>> {
        if let Some(agent) = self.catalog().get(name) {
            return Some(agent.clone());
        }
        self.agents().await.get(name).cloned()
    }

    /// The agent of that name, or an error that names a similar one.
    pub async fn find_agent(&self, name: &AgentName) -> Result<Arc<Definition>, UnknownAgent> {
        self.agent(name).await.ok_or_else(|| UnknownAgent::new(name, &self.catalog()))
    }

    /// Every agent, with those of the registry that the configuration names.
    pub async fn agents(&self) -> Arc<Catalog> {
        self.inner.registry.get_or_init(|| self.inner.fetch_registry()).await;
        self.catalog()
    }

    /// Which agents are known by now.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.inner.catalog.read().clone()
    }

    /// Where components are kept.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// How to start an agent, if everything that it needs is there.
    pub async fn launch(&self, agent: &Definition, purpose: Purpose) -> Result<Launch, agent_catalog::Error> {
        let found = self.inner.found(agent, Some(purpose)).await;
        let find = |name: &ComponentName| found.get(name).map(|one| one.found.clone());
        let mut launch = agent.plan(purpose, &self.inner.config.search_path, &find)?;
        launch.env.extend(self.inner.flags(agent, purpose));
        let (inner, agent) = (self.inner.clone(), agent.clone());
        let lent = tokio::task::spawn_blocking(move || lent_credentials(&agent, &inner.config.environment));
        launch.env.extend(lent.await.unwrap_or_default());
        Ok(launch)
    }

    /// How to start an agent, after installing what it lacks.
    pub async fn ready(&self, agent: &Definition, purpose: Purpose) -> Result<Launch, ReadyError> {
        match self.launch(agent, purpose).await {
            Err(agent_catalog::Error::NotInstalled { .. }) if self.inner.is_ours(agent) => {}
            done => return Ok(done?),
        }
        self.install_for(agent, Some(purpose), &Ask::default()).await?.finish().await?;
        Ok(self.launch(agent, purpose).await?)
    }

    /// Installs what an agent lacks, for everything that it can be started for. It is usable if it can be started for one of them.
    pub async fn install(&self, agent: &Definition, ask: &Ask) -> Result<Installation, Arc<Error>> {
        self.install_for(agent, None, ask).await
    }

    async fn install_for(
        &self,
        agent: &Definition,
        purpose: Option<Purpose>,
        ask: &Ask,
    ) -> Result<Installation, Arc<Error>> {
        let needs = self.inner.needs(agent, purpose);
        let there = self.inner.found(agent, purpose).await;
        let own = ComponentName::from(agent.id.clone());
        let mut parts = Vec::new();
        for name in needs.keys() {
            // Only the agent itself is asked for in another version.
            let want = if *name == own { ask.want.clone() } else { Want::Pinned };
            let present =
                there.get(name).filter(|present| present.managed || !ask.apart || self.inner.is_given(name));
            let again = ask.again && present.is_none_or(|present| present.managed);
            if present.is_some() && want == Want::Pinned && !again {
                continue;
            }
            if !self.inner.config.allowed {
                return Err(Arc::new(Error::Forbidden(name.clone())));
            }
            let task = Task { component: name.clone(), want, again, unverified: ask.unverified };
            parts.push((name.clone(), self.inner.start(task)));
        }
        let purposes = match purpose {
            Some(purpose) => vec![purpose],
            None => {
                [Purpose::Native, Purpose::Acp].into_iter().filter(|it| agent.launch(*it).is_some()).collect()
            }
        };
        let needed = |purpose| self.inner.needs(agent, Some(purpose)).into_keys().collect();
        let ways = purposes.into_iter().map(needed).collect();
        Ok(Installation::new(agent.id.clone(), ways, parts))
    }

    /// Whether what an agent lacks can be installed by us.
    ///
    /// # Errors
    /// If it could, but nothing may be installed here.
    pub fn installs(&self, agent: &Definition) -> Result<bool, Error> {
        match self.inner.is_ours(agent) {
            true if !self.inner.config.allowed => Err(Error::Forbidden(agent.id.clone().into())),
            ours => Ok(ours),
        }
    }

    /// Whether anything may be installed at all.
    pub fn is_allowed(&self) -> bool {
        self.inner.config.allowed
    }

    /// A variable of whoever runs us; `HOME` if nothing else is the home.
    pub fn variable(&self, name: &str) -> Option<PathBuf> {
        let environment = &self.inner.config.environment;
        let home = || environment.home.clone().filter(|_| name == "HOME");
        environment.variables.get(name).map(PathBuf::from).or_else(home)
    }

    /// The credentials of an agent that are on this machine.
    pub async fn credentials(&self, agent: &Definition) -> Vec<Credential> {
        let (inner, agent) = (self.inner.clone(), agent.clone());
        let found = tokio::task::spawn_blocking(move || find_credentials(&agent, &inner.config.environment));
        found.await.unwrap_or_default()
    }

    /// The key of a variable with which an adapter logs the agent in; `None` if there is none, if the program reads variables
    /// itself, or if the user's own login goes before it. `env` is what the agent gets besides what it inherits.
    pub async fn login_key(
        &self,
        agent: &Definition,
        directory: &Path,
        env: &BTreeMap<String, String>,
    ) -> Option<SecretString> {
        for key in &agent.credentials.login_keys {
            let inherited = || self.inner.config.environment.variables.get(&key.variable);
            let value = env.get(&key.variable).or_else(inherited).map(|value| value.trim());
            let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
            if key.after_login && self.is_logged_in(agent, directory, env).await {
                return None;
            }
            return Some(value.into());
        }
        None
    }

    /// Whether the user is logged in with an agent, as the agent itself says. We do not look for its file instead: a login may be
    /// in the keyring of the system, or in another directory.
    async fn is_logged_in(
        &self,
        agent: &Definition,
        directory: &Path,
        env: &BTreeMap<String, String>,
    ) -> bool {
        let Some(row) = &agent.login_status else { return false };
        let mut found = BTreeMap::new();
        for name in row.components() {
            if let Some(present) = self.inner.look(&name, None).await {
                found.insert(name, present.found);
            }
        }
        let find = |name: &ComponentName| found.get(name).cloned();
        let Ok(launch) = agent.plan_row(row, &self.inner.config.search_path, &find) else { return false };
        let mut spec = ProcessSpec::new(launch.program).args(launch.args).cwd(directory);
        spec.env_remove = self.inner.config.env_remove.clone();
        let env = env.iter().map(|(name, value)| (name.clone(), value.clone()));
        spec.env =
            launch.env.into_iter().chain(env).map(|(name, value)| (name.into(), value.into())).collect();
        tool::run(&spec, LOGIN_STATUS_MAX).await.is_ok()
    }

    /// Tells what was counted.
    pub fn register(&self, registry: &mut Registry) {
        self.inner.metrics.register(registry, self.inner.running.lock().len());
    }

    /// Ends every installation that runs; what has come stays for the next one.
    pub async fn shutdown(&self) {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}

impl Inner {
    /// The installation of a component: the one that runs, or a new one.
    fn start(self: &Arc<Self>, task: Task) -> watch::Receiver<Progress> {
        let mut running = self.running.lock();
        if let Some(progress) = running.get(&task) {
            return progress.clone();
        }
        let (teller, progress) = Teller::new();
        running.insert(task.clone(), progress.clone());
        let inner = self.clone();
        self.tasks.spawn(async move {
            let work = inner.stop.run_until_cancelled(work::run(&inner, &task, &teller)).await;
            let outcome = work.unwrap_or_else(|| Err(Error::Ended(task.component.clone())));
            // Whoever comes from now on looks at the disk.
            inner.running.lock().remove(&task);
            inner.metrics.ended(outcome.is_ok());
            teller.end(outcome.map(Arc::new).map_err(Arc::new));
        });
        progress
    }

    /// The flags of an agent that it would inherit, in the words that all its programs read alike.
    fn flags(&self, agent: &Definition, purpose: Purpose) -> BTreeMap<String, String> {
        let names = agent.launch(purpose).map(|row| row.flags.as_slice()).unwrap_or_default();
        let flags = names.iter().filter_map(|name| {
            let value = self.config.environment.variables.get(name).filter(|value| !value.is_empty())?;
            let says_no = NO.contains(&value.trim().to_ascii_lowercase().as_str());
            Some((name.clone(), if says_no { String::new() } else { "1".into() }))
        });
        flags.collect()
    }

    /// Who asks servers. Made when it is needed: most daemons never install anything.
    fn http(&self, more: Option<PathBuf>) -> Result<Http, Error> {
        let certificates: Vec<_> = self.config.certificates.iter().cloned().chain(more).collect();
        Http::new(&certificates, self.config.silence_max)
    }
}
