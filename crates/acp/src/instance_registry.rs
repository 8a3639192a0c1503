//! All instances of a daemon, by the ids that clients chose for them.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    ffi::OsString,
    sync::Arc,
    time::{Duration, Instant},
};

use agent_catalog::{Definition, Launch, Purpose};
use agent_install::{Installer, ReadyError};
use journal::{Retention, RingJournal, Seq};
use parking_lot::RwLock;
use process::{ProcessLimits, ProcessSpec};
use prometheus_client::registry::Registry;
use protocol::{
    AgentName, ServerId,
    acp::{self, PrepareInstanceRequest},
};
use subscribers::Subscription;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use tracing::info;

use crate::{
    Error, InstanceReader, JsonRpcMessage, OutgoingMessage, ResponseMode, SendOutcome,
    instance::Instance,
    launch_options::{LaunchOptions, check_linger},
    metrics::InstanceMetrics,
    process_bridge::ProcessBridge,
};

/// Capacity of the command channel to one bridge. More callers wait for their turn.
const BRIDGE_COMMANDS_MAX: usize = 16;

/// How instances are run.
#[derive(Debug, Clone)]
pub struct Config {
    /// How much of each event stream is retained for replay.
    pub retention: Retention,
    /// The limits of each process.
    pub limits: ProcessLimits,
    /// How long an agent may take to exit by itself before it is killed.
    pub grace: Duration,
    /// How many instances may exist at once.
    pub instances_max: usize,
    /// Variables of the daemon that agents do not inherit.
    pub env_remove: Vec<OsString>,
}

/// All instances of a daemon. Clones share them.
#[derive(Clone)]
pub struct InstanceRegistry {
    inner: Arc<RegistryInner>,
}

struct RegistryInner {
    config: Config,
    installer: Installer,
    instances: RwLock<BTreeMap<ServerId, Arc<Instance>>>,
    bridges: TaskTracker,
    metrics: InstanceMetrics,
}

/// An instance together with the guard that keeps its linger time from expiring while it is used.
struct SubscribedInstance {
    instance: Arc<Instance>,
    _subscription: Option<Subscription>,
}

impl SubscribedInstance {
    fn new(instance: Arc<Instance>) -> Result<Self, Error> {
        let _subscription = instance.subscribe()?;
        Ok(Self { instance, _subscription })
    }
}

impl InstanceRegistry {
    /// An empty registry for the agents that `installer` knows.
    pub fn new(config: Config, installer: Installer) -> Self {
        let inner = RegistryInner {
            config,
            installer,
            instances: RwLock::default(),
            bridges: TaskTracker::new(),
            metrics: InstanceMetrics::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sends one message to the agent behind `id`. The first message creates the instance, installs the agent if needed
    /// and starts it.
    ///
    /// A message that was already sent under the same idempotency key is accepted without sending it again, even if the
    /// agent has exited since; such a repetition does not start the agent.
    ///
    /// The future can be dropped at any time: the agent keeps working and its response appears on the event stream. An
    /// installation continues too, but nothing is started after it.
    pub async fn send(&self, id: &ServerId, mut message: OutgoingMessage) -> Result<SendOutcome, Error> {
        message.linger = message.linger.map(check_linger).transpose()?;
        if self.was_delivered(id, &message)? {
            return Ok(SendOutcome::Accepted);
        }
        let subscribed = self.ensure_running(id, &mut message).await?;
        subscribed.instance.send(message.body, message.response_mode, message.idempotency_key.as_ref()).await
    }

    fn was_delivered(&self, id: &ServerId, message: &OutgoingMessage) -> Result<bool, Error> {
        match (&message.idempotency_key, self.get(id)) {
            (Some(key), Some(instance)) => instance.was_delivered(key, &message.body),
            _ => Ok(false),
        }
    }

    /// Finds or creates the instance, and starts its process. Time spent on an installation is deducted from the time
    /// that the message may wait for its response.
    async fn ensure_running(
        &self,
        id: &ServerId,
        message: &mut OutgoingMessage,
    ) -> Result<SubscribedInstance, Error> {
        // Subscribed from here on: an installation may take longer than the linger time.
        let existing = match self.existing(id, message.agent.as_ref())? {
            Some(subscribed) if subscribed.instance.is_running() => return Ok(subscribed),
            existing => existing,
        };
        // A message that cannot be sent must not start a process.
        JsonRpcMessage::parse_client(&message.body)?;
        let agent = existing.as_ref().map(|subscribed| subscribed.instance.agent().clone());
        let agent =
            agent.or_else(|| message.agent.clone()).ok_or_else(|| Error::AgentRequired(id.clone()))?;
        let launch = self.install(&agent, &mut message.response_mode).await?;
        let subscribed = match existing {
            Some(subscribed) => subscribed,
            None => SubscribedInstance::new(self.get_or_create(id, &agent, message.linger)?)?,
        };
        let spec = subscribed.instance.launch_options().apply_to(self.default_spec(launch));
        subscribed.instance.start(spec).await?;
        Ok(subscribed)
    }

    /// The instance, if it exists and accepts a message for `agent`.
    fn existing(
        &self,
        id: &ServerId,
        agent: Option<&AgentName>,
    ) -> Result<Option<SubscribedInstance>, Error> {
        let Some(instance) = self.get(id) else { return Ok(None) };
        match agent {
            Some(agent) => check_agent(&instance, agent)?,
            // A message that names no agent was meant for the process that exited. Restarting it silently would lose
            // the agent's sessions without the client noticing.
            None => {
                if let Some(exit) = instance.last_exit() {
                    return Err(instance.exited(exit));
                }
            }
        }
        SubscribedInstance::new(instance).map(Some)
    }

    /// The instance `id`. It may exist by now although the caller did not find it: requests race to create it.
    fn get_or_create(
        &self,
        id: &ServerId,
        agent: &AgentName,
        linger: Option<Duration>,
    ) -> Result<Arc<Instance>, Error> {
        let mut instances = self.inner.instances.write();
        let count = instances.len();
        match instances.entry(id.clone()) {
            Entry::Occupied(existing) => {
                check_agent(existing.get(), agent)?;
                Ok(existing.get().clone())
            }
            Entry::Vacant(_) if count >= self.inner.config.instances_max => Err(Error::TooMany(count)),
            Entry::Vacant(vacant) => Ok(vacant.insert(self.create(id, agent, linger)).clone()),
        }
    }

    /// A new instance with its bridge. The first message starts its process.
    fn create(&self, id: &ServerId, agent: &AgentName, linger: Option<Duration>) -> Arc<Instance> {
        let (journal, events) = RingJournal::new(self.inner.config.retention);
        let (bridge, commands) = mpsc::channel(BRIDGE_COMMANDS_MAX);
        let instance = Arc::new(Instance::new(id.clone(), agent.clone(), events, bridge).with_linger(linger));
        let bridge = ProcessBridge::new(instance.clone(), journal, commands, self.inner.metrics.clone());
        self.inner.bridges.spawn(bridge.run());
        if linger.is_some() {
            self.inner.bridges.spawn(self.clone().delete_when_unused(instance.clone()));
        }
        instance
    }

    async fn delete_when_unused(self, instance: Arc<Instance>) {
        let Some(linger) = instance.wait_unused().await else { return };
        let linger_ms = linger.as_millis() as u64;
        info!(instance = %instance.id(), linger_ms, "deleting an instance that is no longer used");
        self.stop_and_remove(&instance, self.inner.config.grace).await;
    }

    /// Installs `agent` if needed and returns how to launch it. The time that it takes is deducted from `response_mode`.
    async fn install(&self, agent: &AgentName, response_mode: &mut ResponseMode) -> Result<Launch, Error> {
        let definition = self.definition(agent).await?;
        let ready = self.inner.installer.ready(&definition, Purpose::Acp);
        let launch = match *response_mode {
            ResponseMode::Async => ready.await,
            ResponseMode::Wait(time) => {
                let start = Instant::now();
                let launch = tokio::time::timeout(time, ready).await;
                response_mode.deduct(start.elapsed());
                launch.map_err(|_| Error::Installing { agent: agent.clone(), waited: time })?
            }
        };
        launch.map_err(|error| match error {
            ReadyError::Launch(error) => Error::Launch(error),
            ReadyError::Install(error) => Error::Install(error),
        })
    }

    /// The process of an agent without the options of a particular instance.
    fn default_spec(&self, launch: Launch) -> ProcessSpec {
        let config = &self.inner.config;
        let mut spec = ProcessSpec::new(launch.program)
            .args(launch.args)
            .limits(config.limits.clone())
            .grace(config.grace);
        spec.env_remove = config.env_remove.clone();
        spec.env = launch.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        spec
    }

    async fn definition(&self, agent: &AgentName) -> Result<Arc<Definition>, Error> {
        Ok(self.inner.installer.find_agent(agent).await?)
    }

    /// Fails unless `agent` is installed, or can be installed by its first message.
    async fn check_launchable(&self, agent: &AgentName) -> Result<(), Error> {
        let definition = self.definition(agent).await?;
        let can_install = || self.inner.installer.installs(&definition);
        match self.inner.installer.launch(&definition, Purpose::Acp).await {
            Err(agent_catalog::Error::NotInstalled { .. })
                if can_install().map_err(|error| Error::Install(error.into()))? =>
            {
                Ok(())
            }
            Err(error) => Err(Error::Launch(Arc::new(error))),
            Ok(_) => Ok(()),
        }
    }

    /// Sets the launch options of the instance `id`, creating it if needed. Returns true if it was created.
    pub async fn prepare(&self, id: &ServerId, request: &PrepareInstanceRequest) -> Result<bool, Error> {
        self.check_launchable(&request.agent).await?;
        let options = LaunchOptions::from_request(request)?;
        let linger = request.linger_ms.map(Duration::from_millis).map(check_linger).transpose()?;
        let mut instances = self.inner.instances.write();
        let count = instances.len();
        match instances.entry(id.clone()) {
            Entry::Occupied(existing) => {
                let instance = existing.get();
                check_agent(instance, &request.agent)?;
                if instance.is_running() {
                    return Err(Error::Running(id.clone()));
                }
                instance.set_launch_options(options);
                Ok(false)
            }
            Entry::Vacant(_) if count >= self.inner.config.instances_max => Err(Error::TooMany(count)),
            Entry::Vacant(vacant) => {
                let instance = vacant.insert(self.create(id, &request.agent, linger));
                instance.set_launch_options(options);
                Ok(true)
            }
        }
    }

    /// Opens the event stream of the instance `id` after `last`, or at the oldest retained event.
    pub fn reader(&self, id: &ServerId, last: Option<Seq>) -> Result<InstanceReader, Error> {
        self.get(id).ok_or_else(|| Error::NotFound(id.clone()))?.reader(last)
    }

    /// Describes the current state of one instance.
    pub fn describe(&self, id: &ServerId) -> Result<acp::AcpInstance, Error> {
        Ok(self.get(id).ok_or_else(|| Error::NotFound(id.clone()))?.describe())
    }

    /// Describes the current state of every instance, ordered by id.
    pub fn list(&self) -> Vec<acp::AcpInstance> {
        self.inner.instances.read().values().map(|instance| instance.describe()).collect()
    }

    /// The number of instances of `agent` with a running process.
    pub fn running_count(&self, agent: &AgentName) -> usize {
        let instances = self.inner.instances.read();
        instances.values().filter(|instance| instance.agent() == agent && instance.is_running()).count()
    }

    /// Adds the current metrics to `registry`.
    pub fn register_metrics(&self, registry: &mut Registry) {
        let instances = self.inner.instances.read();
        let running = instances.values().filter(|instance| instance.is_running()).count();
        self.inner.metrics.register(registry, instances.len(), running);
    }

    /// Stops and removes the instance, if it exists, and waits until no process of it is left.
    ///
    /// The agent has `grace` to exit by itself, but never longer than [`Config::grace`], which is also the default. The
    /// future can be dropped at any time: the deletion continues.
    pub async fn delete(&self, id: &ServerId, grace: Option<Duration>) {
        let grace = grace.unwrap_or(self.inner.config.grace);
        let Some(instance) = self.get(id) else { return };
        let registry = self.clone();
        let stopped =
            self.inner.bridges.spawn(async move { registry.stop_and_remove(&instance, grace).await });
        // The task is cancelled only together with the tokio runtime, and then this future is dropped too.
        let _ = stopped.await;
    }

    async fn stop_and_remove(&self, instance: &Arc<Instance>, grace: Duration) {
        instance.stop(grace).await;
        let mut instances = self.inner.instances.write();
        // A concurrent deletion may have removed it already, and a client may have created the id anew since.
        if instances.get(instance.id()).is_some_and(|current| Arc::ptr_eq(current, instance)) {
            instances.remove(instance.id());
        }
    }

    /// Stops all instances concurrently and waits until no process is left.
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

/// Fails if `instance` runs another agent than the `requested` one.
fn check_agent(instance: &Instance, requested: &AgentName) -> Result<(), Error> {
    if instance.agent() == requested {
        return Ok(());
    }
    Err(Error::AgentMismatch {
        instance: instance.id().clone(),
        actual: instance.agent().clone(),
        requested: requested.clone(),
    })
}
