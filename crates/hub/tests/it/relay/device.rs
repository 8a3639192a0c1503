//! A device that does as it is told.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use async_trait::async_trait;
use client::Client;
use parking_lot::Mutex;
use protocol::relay::{
    DeviceCapabilities, EventFrame, FileCapability, Hello, OfferedRoot, PROTOCOL, RawJson, RelayAccepted,
    RelayError, RelayErrorCode, Request, ShellCapability, ToolCapability,
};
use relay::{Ask, Handler, Limits, Peer, Refused, Reply, Side, Socket};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};

use super::world::soon;

/// What a device offers.
#[derive(Clone, Default)]
pub(super) struct Offering {
    pub(super) capabilities: DeviceCapabilities,
    pub(super) tools: Vec<Value>,
    pub(super) limits: Limits,
    pub(super) client_id: Option<String>,
    pub(super) protocol: Option<String>,
}

impl Offering {
    /// Everything: the root `main` to read and write, the root `docs` to read, commands and tools.
    pub(super) fn all() -> Self {
        let root = |id: &str, mode: &str| OfferedRoot {
            root_id: id.into(),
            label: None,
            virtual_path: format!("/workspace/{id}"),
            mode: mode.into(),
        };
        let fileops = FileCapability { enabled: true, roots: vec![root("main", "rw"), root("docs", "ro")] };
        let shell =
            ShellCapability { enabled: true, runtime: "sandboxed_local_shell".into(), interactive: true };
        let tools = ToolCapability { enabled: true, tool_count: 0 };
        let capabilities = DeviceCapabilities {
            fileops: Some(fileops),
            shell: Some(shell),
            tools: Some(tools),
            ..DeviceCapabilities::default()
        };
        Self { capabilities, ..Self::default() }
    }

    /// The same, with a tool.
    pub(super) fn with_tool(mut self, name: &str, approval: &str) -> Self {
        self.tools.push(tool(name, approval));
        self
    }
}

/// A tool that takes a `path`.
pub(super) fn tool(name: &str, approval: &str) -> Value {
    json!({
        "name": name, "description": "A tool.", "risk": "low", "approval_policy": approval,
        "input_schema": {
            "type": "object", "properties": { "path": { "type": "string" }, "line": { "type": "integer" } },
            "required": ["path"],
        },
    })
}

/// A device that is connected.
pub(super) struct Device {
    pub(super) peer: Peer,
    pub(super) desk: Arc<Desk>,
    tasks: JoinSet<String>,
}

/// What it was asked, and what it works on.
#[derive(Default)]
pub(super) struct Desk {
    pub(super) asked: Mutex<Vec<Request>>,
    pub(super) events: Mutex<Vec<EventFrame>>,
    working: watch::Sender<usize>,
    pub(super) cancelled: AtomicUsize,
    /// Lets what lingers end.
    pub(super) may_end: Notify,
    tools: Vec<Value>,
}

struct Working<'a>(&'a watch::Sender<usize>);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|working| *working -= 1);
    }
}

impl Device {
    /// Connects, and says who it is.
    pub(super) async fn connect(hub: &Client, id: &str, offering: Offering) -> client::Result<Self> {
        let Offering { capabilities, tools, limits, client_id, protocol } = offering;
        let socket = hub.relay_connect(relay::config(&limits)).await?;
        let hello = Hello {
            protocol: protocol.unwrap_or(PROTOCOL.into()),
            client_id: client_id.unwrap_or(id.into()),
            client_kind: "headless".into(),
            client_version: "1".into(),
            capabilities,
        };
        let desk = Arc::new(Desk { tools, ..Desk::default() });
        let side = Side::Device(Box::new(hello));
        let (peer, driver) = Peer::start(Socket::new(socket), At(Arc::clone(&desk)), side, limits);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { driver.await.to_string() });
        Ok(Self { peer, desk, tasks })
    }

    /// What it was told that it is accepted for.
    pub(super) async fn accepted(&self) -> RelayAccepted {
        self.peer.accepted().await.unwrap().read().unwrap()
    }

    /// Waits until the connection has ended; why.
    pub(super) async fn ended(&mut self) -> String {
        soon(self.tasks.join_next()).await.unwrap().unwrap()
    }

    /// Pulls the plug.
    pub(super) fn unplug(&mut self) {
        self.tasks.abort_all();
    }

    /// Waits until it works on so many requests.
    pub(super) async fn works_on(&self, count: usize) {
        soon(self.desk.working.subscribe().wait_for(|working| *working == count)).await.unwrap();
    }

    /// Says that something happened.
    pub(super) async fn says(&self, event: &str, payload: Value) {
        self.peer.event(event, RawJson::from_value(&payload)).await.unwrap();
    }

    /// Asks the hub.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Result<Value, RelayError> {
        let call = self.peer.request(Ask::new(method, RawJson::from_value(&params))).await;
        soon(call.outcome()).await.map(|result| result.read().unwrap())
    }

    /// The commands that it was asked to end, in the order of their names.
    pub(super) fn asked_to_end(&self) -> Vec<String> {
        let asked = self.asked();
        let ends = asked.iter().filter(|request| request.method == "shell.cancel");
        let mut names: Vec<String> = ends
            .map(|end| end.params.read::<Value>().unwrap()["command_id"].as_str().unwrap().into())
            .collect();
        names.sort();
        names
    }

    /// What it was asked, without what the hub itself asks.
    pub(super) fn asked(&self) -> Vec<Request> {
        self.desk.asked.lock().iter().filter(|request| request.method != "tool.list").cloned().collect()
    }
}

struct At(Arc<Desk>);

#[async_trait]
impl Handler for At {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("a device does not accept connections".into()))
    }

    async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        let desk = &self.0;
        desk.working.send_modify(|working| *working += 1);
        let _working = Working(&desk.working);
        let params: Value = request.params.read().unwrap();
        let method = request.method.clone();
        desk.asked.lock().push(request);
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        Ok(RawJson::from_value(&match method.as_str() {
            "file.read" if text("path") == "hang" => return Err(self.hang(reply).await),
            "file.read" if text("path") == "ignore" => std::future::pending().await,
            "file.read" if text("path") == "linger" => {
                let ended = self.hang(reply).await;
                desk.may_end.notified().await;
                return Err(ended);
            }
            "file.read" if text("path") == "lost" => return Err(self.hang(reply).await.with("lost", true)),
            "file.read" if text("path") == "missing" => {
                return Err(RelayError::new(RelayErrorCode::NotFound, "there is no such file"));
            }
            "file.read" if text("path") == "broken" => {
                return Err(RelayError::new(RelayErrorCode::ProviderError, "the disk is broken"));
            }
            "file.read" if text("encoding") == "binary" => {
                let bytes = format!("bytes of {}", text("path")).into_bytes();
                return Ok(RawJson::from_value(&json!({ "content": "", "encoding": "binary" }))
                    .with_bytes(bytes.into()));
            }
            "file.read" => json!({ "content": format!("content of {}", text("path")), "encoding": "utf-8" }),
            "file.write" => json!({ "size_bytes": text("content").len(), "sha256": "0".repeat(64) }),
            "shell.start" if text("command") == "named" => {
                json!({ "exit_code": 0, "duration_ms": 1, "command_id": "cmd-1" })
            }
            // It is called what it runs.
            "shell.start" if params["background"] == json!(true) => {
                let started = json!({ "command_id": text("command"), "duration_ms": 1 });
                reply.stream("status", RawJson::from_value(&started)).await?;
                started
            }
            "shell.start" => {
                for number in 0..params["output_limit_bytes"].as_u64().unwrap_or(3) {
                    reply.stream("stdout", RawJson::from_value(&format!("line {number}\n"))).await?;
                }
                if text("command") == "hang" {
                    return Err(self.hang(reply).await);
                }
                json!({ "exit_code": 0, "duration_ms": 1 })
            }
            "tool.list" => json!({ "tools": desk.tools }),
            "tool.call" if params["arguments"]["path"] == json!("hang") => {
                return Err(self.hang(reply).await);
            }
            "tool.call" => json!({ "content": format!("used {}", text("name")) }),
            _ => json!({}),
        }))
    }

    fn event(&self, event: EventFrame) {
        self.0.events.lock().push(event);
    }
}

impl At {
    /// Waits until it is cancelled.
    async fn hang(&self, reply: &Reply) -> RelayError {
        reply.cancelled().await;
        self.0.cancelled.fetch_add(1, SeqCst);
        RelayError::new(RelayErrorCode::Cancelled, "it was cancelled")
    }
}
