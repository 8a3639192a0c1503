//! Pulling the plug under load: the device and the hub are killed or frozen, the network is cut, in an order that a seed decides.

mod network;

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use async_trait::async_trait;
use protocol::{
    EnvironmentId,
    relay::{DeviceCapabilities, EventFrame, Hello, PROTOCOL, RawJson, RelayError, RelayErrorCode, Request},
};
use relay::{Ask, Handler, Limits, Lost, Peer, Refused, Reply, Side, Socket};
use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use testkit::{TestHub, within, within_blocking};
use tokio::task::JoinSet;

use self::network::Network;
use super::{environment, typed};
use crate::{TOMBOLO, secs};

/// How many requests go on when the plug is pulled.
const REQUESTS: usize = 24;

/// How long each may take, …
const DEADLINE: Duration = Duration::from_secs(3);
/// … and how much later its outcome may be seen on a busy machine.
const SLACK: Duration = Duration::from_secs(3);

/// How many descriptors more than before there may be when it is quiet again: connections that are kept for the next request.
const DESCRIPTORS_MORE_MAX: usize = 4;

/// What decides the order and the moments; one that failed is tried again with `TOMBOLO_SEED`.
#[expect(clippy::disallowed_methods, reason = "tests have no `main` that could hand it down")]
fn seed() -> u64 {
    let told = std::env::var("TOMBOLO_SEED").ok().and_then(|seed| seed.parse().ok());
    told.unwrap_or_else(|| fastrand::u64(..))
}

/// What is done to them.
#[derive(Debug, Clone, Copy)]
enum Fault {
    DeviceKilled,
    HubKilled,
    NetworkCut,
    DeviceFrozen,
    HubFrozen,
}

/// Bar of the relay, relay-119 to relay-123, relay-154: whatever plug is pulled, every request ends in time and says why, everything works again
/// afterwards, nothing is left over, and the record holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_plug_is_pulled_every_request_ends_and_nothing_is_left() {
    let seed = seed();
    println!("TOMBOLO_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut stage = Stage::new(random.u32(1_000_000..)).await;
    let before = (descriptors(stage.hub.pid()), descriptors(stage.device.id()));
    let mut faults =
        [Fault::DeviceKilled, Fault::HubKilled, Fault::NetworkCut, Fault::DeviceFrozen, Fault::HubFrozen];
    random.shuffle(&mut faults);
    for fault in faults {
        println!("{fault:?}");
        stage.pull(fault, &mut random).await;
    }
    within_blocking(secs(20), || children(stage.device.id()) == 0);
    // Those of devices that were killed are gone, too.
    within_blocking(secs(20), || commands(stage.nap) == 0);
    within_blocking(secs(20), || descriptors(stage.hub.pid()) <= before.0 + DESCRIPTORS_MORE_MAX);
    within_blocking(secs(20), || descriptors(stage.device.id()) <= before.1 + DESCRIPTORS_MORE_MAX);
    let status = stage.hub.request(Method::GET, "/api/devices/laptop").send().await.unwrap();
    assert!(status.status().is_success());
}

/// A hub, a device that reaches it over a network that can be cut, and a runtime.
struct Stage {
    hub: TestHub,
    network: Network,
    device: Child,
    home: TempDir,
    environment: (EnvironmentId, String),
    runtime: Runtime,
    /// How long the commands of this test sleep, in seconds, which no other command does.
    nap: u32,
}

impl Stage {
    async fn new(nap: u32) -> Self {
        let hub = TestHub::start(TOMBOLO);
        hub.add_runtime("box", "http://127.0.0.1:9", None).await;
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("code")).unwrap();
        fs::write(home.path().join("code/a.txt"), "from the device").unwrap();
        fs::write(home.path().join("token"), typed(&hub, &["hub", "devices", "add", "laptop"]).trim())
            .unwrap();
        let grant =
            ["hub", "grants", "add", "laptop", "--runtime", "box", "--root", "main:rw", "--shell", "allow"];
        typed(&hub, &grant);
        let network = Network::start(hub.base()).await;
        let device = connect(&network, &home);
        within_blocking(secs(20), || typed(&hub, &["hub", "devices", "list"]).contains("fileops"));
        let environment = environment(&hub);
        let runtime = Runtime::connect(&hub, &environment).await;
        Self { hub, network, device, home, environment, runtime, nap }
    }

    /// Asks many things, pulls a plug, hears how everything ends, and puts it in again.
    async fn pull(&mut self, fault: Fault, random: &mut fastrand::Rng) {
        let mut asked = JoinSet::new();
        for number in 0..REQUESTS {
            let (peer, ask) = (self.runtime.peer.clone(), ask(number, self.nap));
            asked.spawn(async move { peer.request(ask.within(DEADLINE)).await.outcome().await });
        }
        tokio::time::sleep(Duration::from_millis(random.u64(0..150))).await;
        let (hub, device) = (self.hub.pid(), self.device.id());
        match fault {
            Fault::DeviceKilled => signal(device, Signal::KILL),
            Fault::HubKilled => self.hub.kill_and_restart(),
            Fault::NetworkCut => self.network.open(false),
            Fault::DeviceFrozen => signal(device, Signal::STOP),
            Fault::HubFrozen => signal(hub, Signal::STOP),
        }
        let mut ended = 0;
        within(DEADLINE + SLACK, async {
            while let Some(outcome) = asked.join_next().await {
                ended += 1;
                if let Err(error) = outcome.unwrap() {
                    let codes = [
                        RelayErrorCode::Timeout,
                        RelayErrorCode::RelayDisconnected,
                        RelayErrorCode::CapabilityUnavailable,
                        RelayErrorCode::Cancelled,
                    ];
                    assert!(codes.contains(&error.code), "{fault:?}: {error:?}");
                }
            }
        })
        .await;
        assert_eq!(ended, REQUESTS);
        match fault {
            Fault::DeviceKilled => {
                self.device.wait().unwrap();
                self.device = connect(&self.network, &self.home);
            }
            Fault::HubKilled => self.network.leads_to(self.hub.base()),
            Fault::NetworkCut => self.network.open(true),
            Fault::DeviceFrozen => signal(device, Signal::CONT),
            Fault::HubFrozen => signal(hub, Signal::CONT),
        }
        self.works_again().await;
        assert!(typed(&self.hub, &["audit", "verify"]).starts_with("intact: "), "{fault:?}");
    }

    async fn works_again(&mut self) {
        within(secs(30), async {
            loop {
                if self.runtime.is_lost() {
                    self.runtime = Runtime::connect(&self.hub, &self.environment).await;
                }
                let call = self.runtime.peer.request(ask(0, self.nap).within(DEADLINE)).await;
                if call.outcome().await.is_ok() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.device.kill();
        let _ = self.device.wait();
        if std::thread::panicking() {
            eprintln!(
                "the device said:\n{}",
                fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
            );
        }
    }
}

/// Starts the device, with the same files each time.
fn connect(network: &Network, home: &TempDir) -> Child {
    let mut command = Command::new(TOMBOLO);
    command.env("HOME", home.path());
    command.args(["device", "connect", &network.endpoint(), "--client-id", "laptop", "--shell"]);
    command.arg("--token-file").arg(home.path().join("token"));
    command.arg("--data-dir").arg(home.path().join("data"));
    command.arg("--root").arg(format!("main={}:rw", home.path().join("code").display()));
    let log = fs::File::options().create(true).append(true).open(home.path().join("log")).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// What is asked: short and long, what reads and what writes, and commands.
fn ask(number: usize, nap: u32) -> Ask {
    let (method, params) = match number % 4 {
        0 => ("file.stat", json!({ "root_id": "main", "path": "a.txt" })),
        1 => ("file.read", json!({ "root_id": "main", "path": "a.txt" })),
        2 => ("file.write", json!({ "root_id": "main", "path": format!("{number}.txt"), "content": "new" })),
        _ => ("shell.start", json!({ "command": format!("sleep {nap}") })),
    };
    Ask::new(method, RawJson::from_value(&params))
}

/// A runtime that uses the device over a WebSocket.
pub(super) struct Runtime {
    pub(super) peer: Peer,
    driving: JoinSet<Lost>,
}

impl Runtime {
    pub(super) async fn connect(hub: &TestHub, (id, secret): &(EnvironmentId, String)) -> Self {
        let limits = Limits::default();
        let client =
            client::Client::new(hub.base().parse().unwrap(), Some(&secret.parse().unwrap())).unwrap();
        let socket = client.environments().connect(*id, relay::config(&limits)).await.unwrap();
        let hello = Hello {
            protocol: PROTOCOL.into(),
            client_id: "box".into(),
            client_kind: "runtime".into(),
            client_version: "1".into(),
            capabilities: DeviceCapabilities::default(),
        };
        let (peer, driver) = Peer::start(Socket::new(socket), Nobody, Side::Device(Box::new(hello)), limits);
        let mut driving = JoinSet::new();
        driving.spawn(driver);
        within(secs(10), peer.accepted()).await.unwrap();
        Self { peer, driving }
    }

    fn is_lost(&mut self) -> bool {
        self.driving.try_join_next().is_some() || self.driving.is_empty()
    }
}

/// A runtime is not asked.
struct Nobody;

#[async_trait]
impl Handler for Nobody {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("nobody comes here".into()))
    }

    async fn request(&self, _: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        Err(RelayError::new(RelayErrorCode::InvalidRequest, "a runtime is not asked"))
    }

    fn event(&self, _: EventFrame) {}
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

/// How many files and connections a process has open.
fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// How many processes it has started that have not ended.
fn children(pid: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .map(|list| list.split_whitespace().count())
        .sum()
}

/// How many commands there are that sleep for so long, whoever started them.
pub(super) fn commands(nap: u32) -> usize {
    let asleep = format!("sleep\0{nap}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.ends_with(&asleep)).count()
}
