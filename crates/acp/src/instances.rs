//! All instances of a daemon, by the id that clients gave them.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use agents::{Definition, Installer, Launch, Purpose, install::ReadyError};
use bytes::Bytes;
use journal::{Retention, Ring, Seq};
use parking_lot::RwLock;
use process::{Limits, Spec};
use prometheus_client::registry::Registry;
use protocol::{
    AgentName, IdempotencyKey, ServerId,
    acp::{self, PrepareInstanceRequest},
};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use tracing::info;

use crate::{
    Answer, Envelope, Error, Listener, Wait,
    bridge::{Bridge, Door},
    instance::{Instance, Lingering, Phase},
    metrics::Metrics,
};

/// How many callers may wait for one bridge; more wait in line.
const ASKS_MAX: usize = 16;

/// How long an instance may linger at most; what shall stay for longer shall stay until it is deleted.
const LINGER_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How instances are run.
#[derive(Debug, Clone)]
pub struct Config {
    /// What is kept of each stream.
    pub retention: Retention,
    /// The limits of each process.
    pub limits: Limits,
    /// How long an agent may take to end by itself before it is killed.
    pub grace: Duration,
    /// How many instances there may be.
    pub instances_max: usize,
    /// Variables of the daemon that agents do not inherit.
    pub env_remove: Vec<OsString>,
}

/// All instances.
#[derive(Clone)]
pub struct Instances {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    installer: Installer,
    instances: RwLock<BTreeMap<ServerId, Arc<Instance>>>,
    bridges: TaskTracker,
    metrics: Metrics,
}

impl Instances {
    /// None yet, of the agents that `installer` knows.
    pub fn new(config: Config, installer: Installer) -> Self {
        let (instances, bridges, metrics) = (RwLock::default(), TaskTracker::new(), Metrics::default());
        let inner = Inner { config, installer, instances, bridges, metrics };
        Self { inner: Arc::new(inner) }
    }

    /// Hands one message to the agent behind `id`; the first one starts it, and installs what it lacks.
    ///
    /// A message that was handed over before under the same `key` is accepted and not sent again, also if the agent
    /// has ended since: it is not started anew by that.
    ///
    /// An instance that is made by this is deleted once nobody was there for it for `linger`: no reader of its stream,
    /// and no message on its way. Without it, it stays until it is deleted.
    ///
    /// The call can be dropped at any time: the agent's work goes on and its answer is on the stream. An installation
    /// goes on too, though nothing is started after it.
    pub async fn post(
        &self,
        id: &ServerId,
        agent: Option<&AgentName>,
        body: Bytes,
        mut wait: Wait,
        key: Option<&IdempotencyKey>,
        linger: Option<Duration>,
    ) -> Result<Answer, Error> {
        let linger = linger.map(check_linger).transpose()?;
        if let Some(key) = key
            && let Some(instance) = self.get(id)
            && instance.delivered(key, &body)?
        {
            return Ok(Answer::Accepted);
        }
        let found = self.existing(id, agent)?;
        // From now on, as what it lacks may have to be installed first.
        let attending = found.as_ref().map(|instance| instance.attend()).transpose()?;
        let (instance, _attending) = match found {
            Some(instance) if instance.is_running() => (instance, attending),
            found => {
                // A message that cannot be sent shall not start a process.
                Envelope::of_client(&body)?;
                let Some(agent) = found.as_ref().map(|instance| &instance.agent).or(agent) else {
                    return Err(Error::AgentRequired(id.clone()));
                };
                let launch = self.ready(agent, &mut wait).await?;
                let instance = match found {
                    Some(instance) => instance,
                    None => self.create(id, agent, linger)?,
                };
                let attending = attending.map_or_else(|| instance.attend(), Ok)?;
                let spec = with_options(self.spec(launch), &instance.options.lock());
                instance.start(spec).await?;
                (instance, Some(attending))
            }
        };
        instance.send(body, wait, key).await
    }

    /// The instance, if it is there and can take a message that names `agent`.
    fn existing(&self, id: &ServerId, agent: Option<&AgentName>) -> Result<Option<Arc<Instance>>, Error> {
        let Some(instance) = self.get(id) else { return Ok(None) };
        if let Some(asked) = agent
            && *asked != instance.agent
        {
            let (has, asked) = (instance.agent.clone(), asked.clone());
            return Err(Error::AgentMismatch { instance: id.clone(), has, asked });
        }
        // One that has ended is started anew only by who says what it shall be.
        if let Phase::Exited { exit, .. } = &*instance.phase.read()
            && agent.is_none()
        {
            return Err(instance.exited(exit.clone()));
        }
        Ok(Some(instance))
    }

    /// A new instance of `agent`, or the one that somebody else made just now.
    fn create(
        &self,
        id: &ServerId,
        agent: &AgentName,
        linger: Option<Duration>,
    ) -> Result<Arc<Instance>, Error> {
        let mut instances = self.inner.instances.write();
        let count = instances.len();
        match instances.entry(id.clone()) {
            Entry::Occupied(found) if found.get().agent == *agent => Ok(found.get().clone()),
            Entry::Occupied(found) => Err(Error::AgentMismatch {
                instance: id.clone(),
                has: found.get().agent.clone(),
                asked: agent.clone(),
            }),
            Entry::Vacant(_) if count >= self.inner.config.instances_max => Err(Error::TooMany(count)),
            Entry::Vacant(place) => Ok(place.insert(self.open(id, agent, None, linger)).clone()),
        }
    }

    /// An instance with its bridge; its process starts with the first message.
    fn open(
        &self,
        id: &ServerId,
        agent: &AgentName,
        options: Option<PrepareInstanceRequest>,
        linger: Option<Duration>,
    ) -> Arc<Instance> {
        let (journal, ring) = Ring::new(self.inner.config.retention);
        let (bridge, asks) = mpsc::channel(ASKS_MAX);
        let instance = Arc::new(Instance {
            id: id.clone(),
            agent: agent.clone(),
            ring,
            pending: Default::default(),
            deliveries: Default::default(),
            phase: RwLock::new(Phase::Starting),
            options: options.into(),
            bridge,
            lingering: linger.map(|linger| Lingering { attendance: Default::default(), linger }),
        });
        let (door, metrics) = (Door::new(asks), self.inner.metrics.clone());
        let bridge = Bridge { instance: instance.clone(), journal, door, metrics };
        self.inner.bridges.spawn(bridge.run());
        if instance.lingering.is_some() {
            self.inner.bridges.spawn(self.clone().linger(instance.clone()));
        }
        instance
    }

    /// Ends an instance once nobody was there for it for long enough.
    async fn linger(self, instance: Arc<Instance>) {
        let Some(Lingering { attendance, linger }) = &instance.lingering else { return };
        tokio::select! {
            () = instance.bridge.closed() => {}
            () = attendance.deserted(*linger) => {
                info!(instance = %instance.id, linger_ms = linger.as_millis() as u64, "nobody is there any more");
                self.end(&instance, self.inner.config.grace).await;
            }
        }
    }

    /// How `agent` is started, after installing what it lacks. `wait` is shortened by the time that it takes.
    async fn ready(&self, agent: &AgentName, wait: &mut Wait) -> Result<Launch, Error> {
        let definition = self.definition(agent).await?;
        let ready = self.inner.installer.ready(&definition, Purpose::Acp);
        let launch = match *wait {
            Wait::Async => ready.await,
            Wait::Within(time) => {
                let start = Instant::now();
                let launch = tokio::time::timeout(time, ready).await;
                *wait = Wait::Within(time.saturating_sub(start.elapsed()));
                launch.map_err(|_| Error::Installing { agent: agent.clone(), waited: time })?
            }
        };
        launch.map_err(|error| match error {
            ReadyError::Launch(error) => Error::Launch(error),
            ReadyError::Install(error) => Error::Install(error),
        })
    }

    /// How an agent is started when nothing else is said.
    fn spec(&self, launch: Launch) -> Spec {
        let config = &self.inner.config;
        let mut spec =
            Spec::new(launch.program).args(launch.args).limits(config.limits.clone()).grace(config.grace);
        spec.env_remove = config.env_remove.clone();
        spec.env = launch.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        spec
    }

    async fn definition(&self, agent: &AgentName) -> Result<Arc<Definition>, Error> {
        let found = self.inner.installer.agent(agent).await;
        found.ok_or_else(|| Error::UnknownAgent(agent.clone()))
    }

    /// Whether `agent` could be started, perhaps after installing it.
    async fn check(&self, agent: &AgentName) -> Result<(), Error> {
        let definition = self.definition(agent).await?;
        let installs = || self.inner.installer.installs(&definition);
        match self.inner.installer.launch(&definition, Purpose::Acp).await {
            Err(agents::Error::NotInstalled { .. })
                if installs().map_err(|error| Error::Install(error.into()))? =>
            {
                Ok(())
            }
            Err(error) => Err(Error::Launch(Arc::new(error))),
            Ok(_) => Ok(()),
        }
    }

    /// Says how the process behind `id` is to be started. True if the instance is new.
    pub async fn prepare(&self, id: &ServerId, options: &PrepareInstanceRequest) -> Result<bool, Error> {
        self.check(&options.agent).await?;
        check_options(options)?;
        let linger = options.linger_ms.map(Duration::from_millis).map(check_linger).transpose()?;
        let mut instances = self.inner.instances.write();
        let count = instances.len();
        match instances.entry(id.clone()) {
            Entry::Occupied(found) if found.get().agent != options.agent => Err(Error::AgentMismatch {
                instance: id.clone(),
                has: found.get().agent.clone(),
                asked: options.agent.clone(),
            }),
            Entry::Occupied(found) if found.get().is_running() => Err(Error::Running(id.clone())),
            Entry::Occupied(found) => {
                *found.get().options.lock() = Some(options.clone());
                Ok(false)
            }
            Entry::Vacant(_) if count >= self.inner.config.instances_max => Err(Error::TooMany(count)),
            Entry::Vacant(place) => {
                place.insert(self.open(id, &options.agent, Some(options.clone()), linger));
                Ok(true)
            }
        }
    }

    /// A listener to what the agent behind `id` says, after `last` or from the oldest event that is kept.
    pub fn listener(&self, id: &ServerId, last: Option<Seq>) -> Result<Listener, Error> {
        self.get(id).ok_or_else(|| Error::NotFound(id.clone()))?.listener(last)
    }

    /// One instance as it is now.
    pub fn describe(&self, id: &ServerId) -> Result<acp::AcpInstance, Error> {
        Ok(self.get(id).ok_or_else(|| Error::NotFound(id.clone()))?.describe())
    }

    /// Every instance as it is now, by id.
    pub fn list(&self) -> Vec<acp::AcpInstance> {
        self.inner.instances.read().values().map(|instance| instance.describe()).collect()
    }

    /// How many instances of `agent` run.
    pub fn running(&self, agent: &AgentName) -> usize {
        let instances = self.inner.instances.read();
        instances.values().filter(|instance| instance.agent == *agent && instance.is_running()).count()
    }

    /// Tells what was counted.
    pub fn register(&self, registry: &mut Registry) {
        let instances = self.inner.instances.read();
        let running = instances.values().filter(|instance| instance.is_running()).count();
        self.inner.metrics.register(registry, instances.len(), running);
    }

    /// Ends the instance, if it is there, and waits until no process of it is left.
    ///
    /// Its agent has `grace` to end by itself; [`Config::grace`] if that is less, or nothing is said. The call can be dropped at any time:
    /// the instance is ended all the same.
    pub async fn delete(&self, id: &ServerId, grace: Option<Duration>) {
        let grace = grace.unwrap_or(self.inner.config.grace);
        let Some(instance) = self.get(id) else { return };
        let instances = self.clone();
        let ended = self.inner.bridges.spawn(async move { instances.end(&instance, grace).await });
        // It is there for as long as the runtime is, and without that there is nobody to tell.
        let _ = ended.await;
    }

    async fn end(&self, instance: &Arc<Instance>, grace: Duration) {
        instance.stop(grace).await;
        let mut instances = self.inner.instances.write();
        if instances.get(&instance.id).is_some_and(|found| Arc::ptr_eq(found, instance)) {
            instances.remove(&instance.id);
        }
    }

    /// Ends all instances, side by side, and waits until no process is left.
    pub async fn shutdown(&self) {
        let all: Vec<_> = self.inner.instances.read().values().cloned().collect();
        let mut stops = tokio::task::JoinSet::new();
        let grace = self.inner.config.grace;
        for instance in all {
            stops.spawn(async move { instance.stop(grace).await });
        }
        stops.join_all().await;
        self.inner.bridges.close();
        self.inner.bridges.wait().await;
        self.inner.instances.write().clear();
    }

    fn get(&self, id: &ServerId) -> Option<Arc<Instance>> {
        self.inner.instances.read().get(id).cloned()
    }
}

/// What is started with the options that an instance was prepared with.
fn with_options(mut spec: Spec, options: &Option<PrepareInstanceRequest>) -> Spec {
    let Some(options) = options else { return spec };
    spec.cwd = options.cwd.as_ref().map(PathBuf::from);
    for (name, value) in &options.env {
        spec = spec.env(name, value);
    }
    spec.args(&options.args)
}

/// The time, if an instance may linger for so long.
fn check_linger(linger: Duration) -> Result<Duration, Error> {
    if linger.is_zero() || linger > LINGER_MAX {
        let most = LINGER_MAX.as_millis();
        return Err(Error::InvalidLaunch(format!("`lingerMs` must be between 1 and {most}")));
    }
    Ok(linger)
}

/// Whether a process can be started with these options.
fn check_options(options: &PrepareInstanceRequest) -> Result<(), Error> {
    if let Some(cwd) = &options.cwd {
        let directory = Path::new(cwd);
        if !directory.is_absolute() || !directory.is_dir() {
            return Err(Error::InvalidLaunch(format!(
                "`cwd` must be an absolute path to a directory, and `{cwd}` is not"
            )));
        }
    }
    for (name, value) in &options.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(Error::InvalidLaunch(format!(
                "`env` has a variable that no process can be given: `{name}`"
            )));
        }
    }
    if options.args.iter().any(|arg| arg.contains('\0')) {
        return Err(Error::InvalidLaunch("`args` has a NUL in it".into()));
    }
    Ok(())
}
