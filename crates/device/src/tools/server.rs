//! One MCP server that is kept running.

use std::{sync::Arc, time::Duration};

use process::ProcessControl;
use protocol::relay::{
    Family,
    tool::{ToolAnnotations, ToolDescriptor},
};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, ProgressNotificationParam,
        ProtocolVersion, SubscriptionFilter, Tool as McpTool,
    },
    service::{
        ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, RunningService, ServiceError,
        Subscription, serve_client_with_lifecycle,
    },
};
use serde_json::{Map, Value};
use tokio::{
    sync::{Notify, broadcast},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{
    Shelf,
    http::transport,
    names::Named,
    reach::Reach,
    shelf::{Offered, Source},
    stdio::Stdio,
    used::OfServer,
};
use crate::reconnect;

/// How long a server may take to start and say what it is: some fetch themselves first.
const START_WAIT_MAX: Duration = Duration::from_secs(60);

/// How long it may take to say which tools it has.
const LIST_WAIT_MAX: Duration = Duration::from_secs(30);

/// How many pages of tools are read, and tools in all: what is selected is among them, or the server has more than anybody can use.
const PAGES_MAX: usize = 64;
const LISTED_MAX: usize = 4096;

/// How often a server that says nothing by itself, as it is far away, is asked whether it is there.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How many reports of progress of a server wait for the uses of its tools; a use that is slower skips some.
const PROGRESS_MAX: usize = 64;

/// How long a server may take to go.
const STOP_WAIT_MAX: Duration = Duration::from_secs(5);

/// One MCP server of which tools are lent.
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) reach: Reach,
    pub(crate) named: Vec<Named>,
    pub(crate) wait: Duration,
    pub(crate) shelf: Shelf,
    pub(crate) source: Source,
}

/// A server that is there.
struct Up {
    running: RunningService<RoleClient, Listener>,
    program: Option<ProcessControl>,
}

/// Why a server is not there.
#[derive(Debug, thiserror::Error)]
enum Down {
    #[error("could not start the server")]
    Start(#[source] process::Error),
    #[error("could not create an HTTP client")]
    Client(#[source] reqwest::Error),
    #[error("the MCP handshake failed")]
    Hello(#[source] Box<ClientInitializeError>),
    #[error("could not list the server's tools")]
    List(#[source] Box<ServiceError>),
    #[error("no answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error("the server closed the connection")]
    Gone,
}

impl Server {
    /// Keeps it running until `stop`; while it is not there, its tools are not.
    pub(crate) async fn keep(self: Arc<Self>, stop: CancellationToken) {
        let mut backoff = reconnect::backoff();
        while !stop.is_cancelled() {
            let since = Instant::now();
            let down = self.serve(&stop).await;
            self.shelf.clear(&self.source);
            if stop.is_cancelled() {
                return;
            }
            if since.elapsed() >= reconnect::STABLE_AFTER {
                backoff.reset();
            }
            warn!(server = self.name, reason = %protocol::ErrorChain(&down), "an MCP server is unavailable; retrying");
            let _ = stop.run_until_cancelled(backoff.wait()).await;
        }
    }

    /// Starts it and lends its tools for as long as it is there.
    async fn serve(&self, stop: &CancellationToken) -> Down {
        match self.start(stop).await {
            Err(down) => down,
            Ok(Up { mut running, program }) => {
                let down = tokio::select! {
                    () = stop.cancelled() => Down::Gone,
                    down = self.lend(&running, program.as_ref()) => down,
                };
                self.shelf.clear(&self.source);
                let _ = running.close_with_timeout(STOP_WAIT_MAX).await;
                if let Some(program) = program {
                    program.stop().await;
                }
                down
            }
        }
    }

    async fn start(&self, stop: &CancellationToken) -> Result<Up, Down> {
        match self.greet(ClientLifecycleMode::Initialize, stop).await {
            // It answers, but not to that: it may only know what came after.
            Err(Down::Hello(error)) if matches!(*error, ClientInitializeError::JsonRpcError(_)) => {
                let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
                self.greet(ClientLifecycleMode::Discover { preferred_versions }, stop).await
            }
            greeted => greeted,
        }
    }

    async fn greet(&self, how: ClientLifecycleMode, stop: &CancellationToken) -> Result<Up, Down> {
        let listener = Listener::default();
        match &self.reach {
            Reach::Program(spec) => {
                let stdio = Stdio::start(spec).await.map_err(Down::Start)?;
                let program = stdio.control();
                match greeted(Box::pin(serve_client_with_lifecycle(listener, stdio, how)), stop).await {
                    Ok(running) => Ok(Up { running, program: Some(program) }),
                    Err(down) => {
                        // Nothing of it is left before it is tried again, or the device has stopped.
                        program.stop().await;
                        Err(down)
                    }
                }
            }
            Reach::Url { url, headers } => {
                let transport = transport(url, headers).map_err(Down::Client)?;
                let running =
                    greeted(Box::pin(serve_client_with_lifecycle(listener, transport, how)), stop).await?;
                Ok(Up { running, program: None })
            }
        }
    }

    /// Lends its tools for as long as it is there.
    async fn lend(
        &self,
        running: &RunningService<RoleClient, Listener>,
        program: Option<&ProcessControl>,
    ) -> Down {
        let Listener { changed, progress } = running.service();
        let peer = running.peer().clone();
        let broken = Arc::new(Notify::new());
        let exited = async {
            match program {
                Some(program) => drop(program.wait().await),
                None => std::future::pending().await,
            }
        };
        let mut exited = std::pin::pin!(exited);
        // Before it is asked which there are, so that nothing falls in between.
        let mut news = timeout(LIST_WAIT_MAX, subscribe(&peer)).await.unwrap_or_default();
        loop {
            let tools = match timeout(LIST_WAIT_MAX, list(&peer)).await {
                Err(_) => return Down::Late(LIST_WAIT_MAX),
                Ok(Err(error)) => return Down::List(Box::new(error)),
                Ok(Ok(tools)) => tools,
            };
            self.put(&peer, progress, &broken, &tools);
            let look_again = async {
                match program {
                    Some(_) => std::future::pending().await,
                    None => sleep(LOOK_AGAIN).await,
                }
            };
            tokio::select! {
                () = &mut exited => return Down::Gone,
                () = broken.notified() => return Down::Gone,
                () = told(&mut news) => {}
                () = changed.notified() => {}
                () = look_again => {}
            }
            if peer.is_transport_closed() {
                return Down::Gone;
            }
        }
    }

    /// Puts those tools that are selected on the shelf.
    fn put(
        &self,
        peer: &Peer<RoleClient>,
        progress: &broadcast::Sender<ProgressNotificationParam>,
        broken: &Arc<Notify>,
        tools: &[McpTool],
    ) {
        let mut offered: Vec<Offered> = Vec::new();
        for Named { name, selected } in &self.named {
            let Some(tool) = tools.iter().find(|tool| tool.name == selected.name) else {
                warn!(
                    server = self.name,
                    tool = selected.name,
                    "an MCP server does not have a tool that the tools file names"
                );
                continue;
            };
            let policy = selected.policy();
            let descriptor = ToolDescriptor {
                name: name.clone(),
                title: tool.title.clone().or_else(|| tool.annotations.as_ref()?.title.clone()),
                description: tool.description.as_deref().unwrap_or_default().to_owned(),
                input_schema: (*tool.input_schema).clone(),
                output_schema: output_schema(tool),
                annotations: tool.annotations.as_ref().and_then(annotations),
                capability: Family::Tools,
                risk: policy.risk,
                approval_policy: policy.approval,
            };
            let used = OfServer {
                peer: peer.clone(),
                name: selected.name.clone(),
                wait: self.wait,
                broken: Arc::clone(broken),
                progress: progress.clone(),
            };
            offered.push((descriptor, Arc::new(used)));
        }
        let said = self.shelf.replace(&self.source, offered);
        info!(server = self.name, count = said.registered.len(), "loaded the tools of an MCP server");
        for rejected in said.rejected {
            warn!(server = self.name, tool = rejected.name, reason = rejected.reason, "a tool was rejected");
        }
    }
}

/// A server that has said what it is, within the time that it has for that.
async fn greeted(
    greeting: impl Future<Output = Result<RunningService<RoleClient, Listener>, ClientInitializeError>>,
    stop: &CancellationToken,
) -> Result<RunningService<RoleClient, Listener>, Down> {
    match timeout(START_WAIT_MAX, stop.run_until_cancelled(greeting)).await {
        Err(_) => Err(Down::Late(START_WAIT_MAX)),
        Ok(None) => Err(Down::Gone),
        Ok(Some(greeted)) => greeted.map_err(|error| Down::Hello(Box::new(error))),
    }
}

/// All tools of a server, as far as anybody reads.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<McpTool>, ServiceError> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() > LISTED_MAX {
            break;
        }
    }
    tools.truncate(LISTED_MAX);
    Ok(tools)
}

/// Asks a server that has to be asked to tell when it has other tools. Those of before do so by themselves.
async fn subscribe(peer: &Peer<RoleClient>) -> Option<Subscription> {
    let must_be_asked = peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
    if !must_be_asked {
        return None;
    }
    peer.listen(SubscriptionFilter::builder().tools_list_changed().build()).await.ok()
}

/// Returns when the server tells that it has other tools; never, if it does not tell.
async fn told(news: &mut Option<Subscription>) {
    if let Some(subscription) = news
        && let Ok(Some(_)) = subscription.next().await
    {
        return;
    }
    *news = None;
    std::future::pending().await
}

/// The schema of a tool's structured results. Only objects: clients before 2026-07-28 refuse all tools of a list with another one.
fn output_schema(tool: &McpTool) -> Option<Map<String, Value>> {
    let schema = tool.output_schema.as_deref()?;
    (schema.get("type")? == "object").then(|| schema.clone())
}

fn annotations(of: &rmcp::model::ToolAnnotations) -> Option<ToolAnnotations> {
    let annotations = ToolAnnotations {
        read_only: of.read_only_hint,
        destructive: of.destructive_hint,
        idempotent: of.idempotent_hint,
        open_world: of.open_world_hint,
    };
    (annotations != ToolAnnotations::default()).then_some(annotations)
}

/// Hears what a server says by itself.
#[derive(Clone)]
struct Listener {
    changed: Arc<Notify>,
    progress: broadcast::Sender<ProgressNotificationParam>,
}

impl Default for Listener {
    fn default() -> Self {
        Self { changed: Arc::default(), progress: broadcast::Sender::new(PROGRESS_MAX) }
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("tombolo-device", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // Without a use there is nobody to hear it.
        let _ = self.progress.send(progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
