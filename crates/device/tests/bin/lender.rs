//! Test helper: runs a device in a process of its own, and serves as the first process in its sandbox, as `tombolo` does.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc, time::Duration};

use anyhow::Context;
use async_trait::async_trait;
use device::{
    Consent, Device, Home, Roots,
    shell::{Config, Limits, OnDisconnect, Runtime, Sandbox, Shell, init},
};
use protocol::relay::{
    ApprovalPolicy, CommandNetwork, EventFrame, Hello, PROTOCOL, RawJson, RelayError, RelayErrorCode,
    Request, Root, RootMode, ShellGrant,
};
use relay::{Ask, Handler, Peer, Refused, Reply, Side, pair};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == init::ARGUMENT {
        return Ok(init::serve(arguments));
    }
    let rest = arguments.map(|argument| argument.into_string().ok()).collect::<Option<Vec<_>>>();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let rest = rest.context("arguments must be UTF-8")?;
    match (first.to_str(), rest.as_slice()) {
        (Some("hold"), [directory, line]) => runtime.block_on(hold(Path::new(directory), line))?,
        (Some("claim"), [directory, line]) => runtime.block_on(claim(Path::new(directory), line))?,
        (Some("cancel"), [directory, line, others @ ..]) => {
            runtime.block_on(cancel(Path::new(directory), line, others))?;
        }
        _ => anyhow::bail!(
            "usage: lender hold DIRECTORY LINE, lender claim DIRECTORY LINE, or lender cancel DIRECTORY LINE [OTHER…]"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// Lends a directory, starts a command in its sandbox, and runs until it is killed.
async fn hold(directory: &Path, line: &str) -> anyhow::Result<()> {
    let lent = lend(directory, Runtime::Sandboxed).await?;
    lent.start(line).await?;
    println!("started");
    std::future::pending().await
}

/// Becomes the device whose files are in a directory, starts a command there without a sandbox, and runs until it is killed.
async fn claim(directory: &Path, line: &str) -> anyhow::Result<()> {
    let _claim = Home::of(directory, &"lender".parse()?).claim()?;
    let _orphans = process::OrphanReaper::enable()?;
    let lent = lend(directory, Runtime::Local).await?;
    lent.start(line).await?;
    println!("started");
    std::future::pending().await
}

/// Lends a directory without a sandbox, starts the `others` and then the command `line`, and cancels that one as soon as the
/// file `ready` exists. Prints the answer, and ends when it reads a line.
async fn cancel(directory: &Path, line: &str, others: &[String]) -> anyhow::Result<()> {
    let _orphans = process::OrphanReaper::enable()?;
    let lent = lend(directory, Runtime::Local).await?;
    for other in others {
        lent.start(other).await?;
    }
    let id = lent.start(line).await?;
    while !directory.join("ready").exists() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let answer: Value = match lent.ask("shell.cancel", json!({ "command_id": id })).await {
        Ok(done) => done.read()?,
        Err(refused) => json!({ "refused": refused.details }),
    };
    println!("{answer}");
    tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await??;
    lent.device.end().await;
    Ok(())
}

/// A device, and the connection to it.
struct Lent {
    device: Device,
    peer: Peer,
    _ends: JoinSet<()>,
}

impl Lent {
    async fn ask(&self, method: &'static str, params: Value) -> Result<RawJson, RelayError> {
        self.peer.request(Ask::new(method, RawJson::from_value(&params))).await.outcome().await
    }

    /// Starts a command in the background and returns its id.
    async fn start(&self, line: &str) -> anyhow::Result<Value> {
        let started = self.ask("shell.start", json!({ "command": line, "background": true })).await?;
        let started: Value = started.read()?;
        Ok(started["command_id"].clone())
    }
}

async fn lend(directory: &Path, expected: Runtime) -> anyhow::Result<Lent> {
    let root = Root {
        root_id: "main".parse()?,
        label: None,
        virtual_path: "/workspace/main".parse()?,
        mode: RootMode::Rw,
    };
    let sandbox = match expected {
        Runtime::Sandboxed => Some(Sandbox::new(&std::env::current_exe()?)?),
        _ => None,
    };
    let config = Config {
        lends: ShellGrant {
            cwd: None,
            env: Vec::new(),
            network: CommandNetwork::None,
            approval_policy: ApprovalPolicy::Allow,
            runtime_max_ms: None,
            output_limit_bytes: None,
            unsandboxed: sandbox.is_none(),
        },
        environment: BTreeMap::new(),
        sandbox,
        on_disconnect: OnDisconnect::Kill,
        limits: Limits::default(),
    };
    let roots = Roots::open([(root, directory.to_owned())])?;
    let shell = Shell::open(Arc::new(roots), config).await?;
    anyhow::ensure!(shell.runtime() == expected, "there is no sandbox");
    let device = Device::new(vec![Box::new(shell)], Consent::default());
    let hello = Hello {
        protocol: PROTOCOL.into(),
        client_id: "lender".into(),
        client_kind: "headless".into(),
        client_version: "0".into(),
        capabilities: device.offer(),
    };
    let (here, there) = pair();
    let (peer, server) = Peer::start(here, Hub, Side::Server, relay::Limits::default());
    let (_, client) =
        Peer::start(there, device.clone(), Side::Device(hello.into()), relay::Limits::default());
    let mut ends = JoinSet::new();
    ends.spawn(async { drop(server.await) });
    ends.spawn(async { drop(client.await) });
    peer.accepted().await?;
    Ok(Lent { device, peer, _ends: ends })
}

/// A hub that accepts every device and serves no requests.
struct Hub;

#[async_trait]
impl Handler for Hub {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Ok(Map::new())
    }

    async fn request(&self, _: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        Err(RelayError::new(RelayErrorCode::UnknownMethod, "this hub serves no requests"))
    }

    fn event(&self, _: EventFrame) {}
}
