//! A device that lends tools in this process, and a hub to ask it through.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use device::{
    Consent, Device, Provider, Roots,
    tools::{Config, Servers, Shelf, Tools, Variables},
};
use parking_lot::Mutex;
use protocol::relay::{
    EventFrame, Family, Hello, RawJson, RelayContext, RelayError, RelayErrorCode, Request,
    tool::{ToolList, ToolsRegistered, ToolsUnregistered, UnregisterTools},
};
use relay::{Ask, Call, Handler, Limits, Lost, Peer, Refused, Reply, Side, pair};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use testkit::within;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use crate::support::SOON;
use crate::support::hello;

/// A device that lends tools in this process.
pub(crate) struct Lent {
    pub(crate) peer: Peer,
    pub(crate) shelf: Shelf,
    pub(crate) device: Device,
    pub(crate) hub: Hub,
    pub(crate) stop: CancellationToken,
    _stop: DropGuard,
    tasks: JoinSet<()>,
}

impl Lent {
    pub(crate) async fn with(shelf: Shelf, consent: Consent) -> Self {
        Self::at(Hub::default(), shelf, consent).await
    }

    pub(crate) async fn at(hub: Hub, shelf: Shelf, consent: Consent) -> Self {
        let provider: Box<dyn Provider> = Box::new(Tools::new(shelf.clone()));
        let device = Device::new(vec![provider], consent);
        let (here, there) = pair();
        let hello = hello(&device);
        let mut tasks = JoinSet::new();
        let (peer, driver) = Peer::start(here, hub.clone(), Side::Server, Limits::default());
        tasks.spawn(async move { drop::<Lost>(driver.await) });
        let side = Side::Device(hello.into());
        let (own, driver) = Peer::start(there, device.clone(), side, Limits::default());
        let speaker = device.clone();
        tasks.spawn(async move {
            tokio::select! {
                lost = driver => drop::<Lost>(lost),
                () = speaker.speak(&own) => {}
            }
        });
        within(SOON, peer.accepted()).await.unwrap();
        let stop = CancellationToken::new();
        Self { peer, shelf, device, hub, _stop: stop.clone().drop_guard(), stop, tasks }
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<Value, RelayError> {
        self.ask("tool.call", json!({ "name": name, "arguments": arguments }), None).await
    }

    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        context: Option<RelayContext>,
    ) -> Result<Value, RelayError> {
        let call = self.begin(method, params, context).await;
        within(SOON, call.outcome()).await.map(|json| json.read().unwrap())
    }

    /// A request that goes on. Dropped, it is cancelled.
    pub(crate) async fn begin(&self, method: &str, params: Value, context: Option<RelayContext>) -> Call {
        let ask = Ask::new(method, RawJson::from_value(&params)).within(Duration::from_secs(120));
        let ask = match context {
            Some(context) => ask.context(context),
            None => ask,
        };
        self.peer.request(ask).await
    }

    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Keeps MCP servers running.
    pub(crate) fn keep(&mut self, servers: Servers) {
        let stop = self.stop.clone();
        self.spawn(servers.keep(stop));
    }

    /// Stops everything, and waits until it is gone.
    pub(crate) async fn end(mut self) {
        self.stop.cancel();
        self.peer.close("the test is over");
        within(SOON, async { while self.tasks.join_next().await.is_some() {} }).await;
    }

    /// Returns when the tools have these names.
    pub(crate) async fn has(&self, names: &[&str]) {
        within(SOON, async {
            loop {
                let listed = self.ask("tool.list", json!({}), None).await.unwrap();
                if self::names(&listed) == names {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }
}

pub(crate) fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// A hub that accepts everything, and remembers what it is told of tools.
#[derive(Clone, Default)]
pub(crate) struct Hub {
    /// Whether it refuses whatever a device asks.
    pub(crate) refuses: bool,
    pub(crate) told: Arc<Mutex<Vec<Told>>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    Register(Vec<String>),
    Unregister(Vec<String>),
    Event(String, Vec<String>),
}

impl Hub {
    /// Returns when it was told these things, and nothing else.
    pub(crate) async fn was_told(&self, expected: &[Told]) {
        let told = async {
            while self.told.lock().as_slice() != expected {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if tokio::time::timeout(SOON, told).await.is_err() {
            panic!("it was told {:?}", self.told.lock());
        }
    }
}

#[async_trait]
impl Handler for Hub {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        let accepted = json!({
            "connection_id": "relay_conn_1", "accepted_capabilities": [Family::Tools], "server_time": "2026-01-01T00:00:00Z",
        });
        Ok(accepted.as_object().unwrap().clone())
    }

    async fn request(&self, request: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        match request.method.as_str() {
            _ if self.refuses => Err(RelayError::new(RelayErrorCode::CapabilityUnavailable, "not here")),
            "tool.register" => {
                let (tools, rejected) = request.params.read::<ToolList>().unwrap().read();
                let registered: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
                let names = registered.iter().map(ToString::to_string).collect();
                self.told.lock().push(Told::Register(names));
                Ok(RawJson::from_value(&ToolsRegistered { registered, rejected }))
            }
            "tool.unregister" => {
                let unregistered = request.params.read::<UnregisterTools>().unwrap().names;
                let names = unregistered.iter().map(ToString::to_string).collect();
                self.told.lock().push(Told::Unregister(names));
                Ok(RawJson::from_value(&ToolsUnregistered { unregistered }))
            }
            other => panic!("a device asked for {other}"),
        }
    }

    fn event(&self, event: EventFrame) {
        let payload: Value = event.payload.read().unwrap();
        let said = match event.event.as_str() {
            "tool.registered" => names(&payload).into_iter().map(Into::into).collect(),
            _ => serde_json::from_value(payload["names"].clone()).unwrap(),
        };
        self.told.lock().push(Told::Event(event.event, said));
    }
}

/// A directory with a `tools.toml` that only its owner can read.
pub(crate) fn written(toml: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tools.toml");
    fs::write(&path, toml).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    directory
}

pub(crate) fn config(directory: &TempDir) -> Config {
    Config::read(&directory.path().join("tools.toml")).unwrap()
}

/// The environment of the device: as that of the tests, and a secret.
#[expect(clippy::disallowed_methods, reason = "the environment of a test is that of its device")]
pub(crate) fn variables() -> Variables {
    let mut variables: Variables = ["PATH", "HOME"]
        .into_iter()
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
        .collect::<BTreeMap<_, _>>();
    variables.insert("SECRET_OF_DEVICE".into(), "hunter2".into());
    variables.insert("ALLOWED".into(), "yes".into());
    variables
}

/// A device that lends the commands of a `tools.toml`.
pub(crate) async fn commands(toml: &str) -> (Lent, TempDir) {
    let directory = written(toml);
    let shelf = Shelf::default();
    shelf.put_commands(&config(&directory), &variables(), &Roots::default()).unwrap();
    (Lent::with(shelf, Consent::default()).await, directory)
}

/// A tool that runs a script of the shell, and asks nobody.
pub(crate) fn script(name: &str, script: &str, more: &str) -> String {
    format!(
        "[[tool]]\nname = {name:?}\ndescription = \"a test\"\nrisk = \"low\"\n\
         command = [\"sh\", \"-c\", '''{script}''']\ninput_schema = {{ type = \"object\" }}\n{more}\n"
    )
}

/// Whether a process is there that is no zombie.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// What a file holds, once it holds something.
pub(crate) async fn content(path: &Path) -> String {
    within(SOON, async {
        loop {
            match fs::read_to_string(path) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    })
    .await
}

/// Returns when something holds that nobody announces.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    within(SOON, async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
