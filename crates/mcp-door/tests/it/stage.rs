//! A door on a port of its own, and clients that come to it.

use std::time::Duration;

use axum::http::StatusCode;
use mcp_door::Door;
use protocol::relay::{Binding, Family, Root, RootMode};
use relay::Environment;
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{
        CallToolRequestParams, CallToolResult, ClientConfig, Implementation, ProgressNotificationParam,
        ProtocolVersion,
    },
    service::{NotificationContext, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde_json::{Map, Value};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::device::Device;

pub(crate) struct Stage {
    pub(crate) device: Device,
    pub(crate) environments: watch::Sender<Environment>,
    pub(crate) url: String,
    pub(crate) door: Door,
    _tasks: JoinSet<()>,
}

pub(crate) const ALL: [Family; 3] = [Family::Fileops, Family::Shell, Family::Tools];

pub(crate) fn binding(capabilities: &[Family], mode: RootMode) -> Binding {
    let root = Root {
        root_id: "main".parse().unwrap(),
        label: Some("demo".into()),
        virtual_path: "/workspace/main".parse().unwrap(),
        mode,
    };
    Binding {
        connection_id: "relay_conn_1".into(),
        client_id: "client_1".parse().unwrap(),
        roots: vec![root],
        capabilities: capabilities.to_vec(),
        metadata: Map::new(),
    }
}

impl Stage {
    pub(crate) async fn new(capabilities: &[Family], mode: RootMode) -> Self {
        let device = Device::default();
        let environment = Environment::new(binding(capabilities, mode), device.clone());
        let (environments, environment) = watch::channel(environment);
        let door = Door::new(environment, &CancellationToken::new());
        let mounted = door.clone();
        let answer = move |request| {
            let door = mounted.clone();
            async move {
                let answer = door.answer(request).await.map(|answer| answer.map(axum::body::Body::new));
                answer.map_err(|error| (StatusCode::SERVICE_UNAVAILABLE, error.to_string()))
            }
        };
        let router = axum::Router::new().route("/mcp", axum::routing::any(answer));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { device, environments, url, door, _tasks: tasks }
    }

    /// A client that speaks this revision.
    pub(crate) async fn client(&self, version: ProtocolVersion) -> Client {
        let (sender, told) = mpsc::channel(1024);
        let heard = Heard { told: sender, version: version.clone() };
        let lifecycle = if version == ProtocolVersion::V_2026_07_28 {
            ClientLifecycleMode::Discover { preferred_versions: vec![version] }
        } else {
            ClientLifecycleMode::Initialize
        };
        let transport = StreamableHttpClientTransport::from_uri(self.url.clone());
        let service = within(Box::pin(heard.serve_with_lifecycle(transport, lifecycle))).await.unwrap();
        Client { service, told }
    }
}

/// A client, and what it is told.
pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, Heard>,
    pub(crate) told: mpsc::Receiver<Told>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Told {
    Progress(String),
    ToolsChanged,
}

pub(crate) struct Heard {
    told: mpsc::Sender<Told>,
    version: ProtocolVersion,
}

impl ClientHandler for Heard {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.client_info = Implementation::new("test", "1");
        config.protocol_version = self.version.clone();
        config
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.told.send(Told::Progress(progress.message.unwrap_or_default())).await;
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.told.send(Told::ToolsChanged).await;
    }
}

impl Client {
    pub(crate) async fn names(&self) -> Vec<String> {
        let tools = within(self.service.list_all_tools()).await.unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    pub(crate) async fn call(&self, name: &'static str, arguments: Value) -> CallToolResult {
        within(self.service.call_tool(params(name, arguments))).await.unwrap()
    }

    /// What a tool tells that did not fail.
    pub(crate) async fn text(&self, name: &'static str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_ne!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }

    /// What a tool tells that failed.
    pub(crate) async fn failure(&self, name: &'static str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }
}

pub(crate) fn params(name: &'static str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone())
}

pub(crate) fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|content| Some(content.as_text()?.text.as_str()));
    texts.collect::<Vec<_>>().join("\n")
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    testkit::within(Duration::from_secs(30), future).await
}
