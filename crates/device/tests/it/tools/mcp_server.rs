//! A real MCP server for the tests: as a process of its own, which is this program again, and over HTTP.

use std::{
    borrow::Cow,
    io::{BufRead, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Tool, ToolAnnotations,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

/// What tells this program to be an MCP server, and of which kind.
pub(crate) const MODE: &str = "TEST_MCP_MODE";

/// The `command` of a server in a `tools.toml`, and its `env` without the closing brace.
pub(crate) fn program(mode: &str) -> String {
    let this = std::env::current_exe().unwrap();
    format!(
        "command = [{:?}, \"--exact\", \"tools::mcp_server::this_program_is_an_mcp_server_if_it_is_told_so\", \"--nocapture\"]\n\
         env = {{ {MODE} = {mode:?}, TOKEN = \"hunter2\" }}\n",
        this.to_str().unwrap()
    )
}

/// What is left over of a run: other tests run this as an MCP server.
#[test]
#[expect(clippy::disallowed_methods, reason = "it is told what it is by its environment")]
fn this_program_is_an_mcp_server_if_it_is_told_so() {
    let Ok(mode) = std::env::var(MODE) else { return };
    match mode.as_str() {
        "good" | "modern" => tokio::runtime::Runtime::new().unwrap().block_on(async {
            let good = Good { is_modern: mode == "modern", ..Good::default() };
            let server = good.serve((tokio::io::stdin(), tokio::io::stdout())).await.unwrap();
            server.waiting().await.unwrap();
        }),
        hostile => be_hostile(hostile),
    }
}

/// A server with some tools.
#[derive(Clone, Default)]
pub(crate) struct Good {
    /// Tools that it has got since.
    pub(crate) more: Arc<Mutex<Vec<&'static str>>>,
    /// How many uses were cancelled.
    pub(crate) cancelled: Arc<AtomicUsize>,
    pub(crate) waiting: Arc<AtomicUsize>,
    /// Whether it knows only the newest revision, and those who want to hear of other tools.
    pub(crate) is_modern: bool,
    pub(crate) grown: Arc<Notify>,
}

const TOOLS: [&str; 12] = [
    "steps",
    "echo",
    "parts",
    "fails",
    "refuses",
    "waits",
    "grow",
    "dies",
    "large",
    "huge",
    "variables",
    "a.dotted/name",
];

impl ServerHandler for Good {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.is_modern {
            true => vec![ProtocolVersion::V_2026_07_28].into(),
            false => ProtocolVersion::KNOWN_VERSIONS.into(),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.is_modern.then(|| requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.grown.notified() => context.sink().notify_tool_list_changed().await.unwrap(),
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all: Vec<_> = TOOLS.into_iter().chain(self.more.lock().iter().copied()).collect();
        // One tool on each page.
        let page: usize =
            request.and_then(|request| request.cursor).map_or(0, |cursor| cursor.parse().unwrap());
        let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        let mut tool =
            Tool::new(all[page], format!("does {}", all[page]), schema.as_object().unwrap().clone());
        match all[page] {
            "parts" => {
                let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
                tool.output_schema = Some(Arc::new(output.as_object().unwrap().clone()));
                tool.annotations =
                    Some(ToolAnnotations::with_title("Pieces").read_only(true).idempotent(true));
            }
            // Not an object, which older clients refuse.
            "steps" => {
                let output = json!({ "type": "array" });
                tool.output_schema = Some(Arc::new(output.as_object().unwrap().clone()));
            }
            _ => {}
        }
        let mut result = ListToolsResult::with_all_items(vec![tool]);
        result.next_cursor = (page + 1 < all.len()).then(|| (page + 1).to_string());
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let result = match &*request.name {
            "echo" | "late" | "a.dotted/name" => text(arguments.to_string()),
            "parts" => {
                let mut result = CallToolResult::success(vec![
                    ContentBlock::text("a"),
                    ContentBlock::image("AA==", "image/png"),
                    ContentBlock::audio("AQ==", "audio/wav"),
                ]);
                result.structured_content = Some(json!({ "n": 1 }));
                result
            }
            "steps" => {
                let token = context.meta.get_progress_token().unwrap();
                for (done, message) in [(1.0, "first"), (2.0, "second")] {
                    let report = ProgressNotificationParam::new(token.clone(), done);
                    let report = report.with_total(2.0).with_message(message);
                    context.peer.notify_progress(report).await.unwrap();
                }
                text("done".into())
            }
            "fails" => CallToolResult::error(vec![ContentBlock::text("it went wrong")]),
            "refuses" => return Err(ErrorData::invalid_params("not like this", None)),
            "waits" => {
                self.waiting.fetch_add(1, SeqCst);
                if let Some(path) = arguments["text"].as_str() {
                    std::fs::write(path, "waiting\n").unwrap();
                }
                context.ct.cancelled().await;
                self.cancelled.fetch_add(1, SeqCst);
                if let Some(path) = arguments["text"].as_str() {
                    std::fs::write(path, "waiting\ncancelled\n").unwrap();
                }
                text("cancelled".into())
            }
            "grow" => {
                self.more.lock().push("late");
                match self.is_modern {
                    true => self.grown.notify_one(),
                    false => context.peer.notify_tool_list_changed().await.unwrap(),
                }
                text("grown".into())
            }
            "dies" => std::process::exit(3),
            "large" => text("x".repeat(2 << 20)),
            "huge" => text("x".repeat(6 << 20)),
            "variables" => {
                let names: Vec<_> =
                    std::env::vars_os().map(|(name, _)| name.into_string().unwrap()).collect();
                text(names.join(" "))
            }
            other => panic!("{other} is no tool of this server"),
        };
        Ok(result.into())
    }
}

/// A program that is no good MCP server.
fn be_hostile(mode: &str) {
    let mut stdout = std::io::stdout().lock();
    let mut say = |frame: &str| {
        // Whoever has had enough closes the pipe.
        let _ = writeln!(stdout, "{frame}");
        let _ = stdout.flush();
    };
    match mode {
        "garbage" => (0..10_000).for_each(|n| say(&format!("this is no MCP server {n}"))),
        "flood" => loop {
            say(&"x".repeat(1 << 20));
        },
        _ => {}
    }
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(asked) = serde_json::from_str::<Value>(&line) else { continue };
        let id = asked["id"].clone();
        let mut answer =
            |result: Value| say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
        match asked["method"].as_str().unwrap_or_default() {
            "initialize" => answer(json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "hostile", "version": "1" },
            })),
            "tools/list" => match mode {
                "endless" => {
                    let first = asked["params"]["cursor"].is_null();
                    let tools = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
                    let tools = if first { tools } else { json!([]) };
                    answer(json!({ "tools": tools, "nextCursor": "again" }));
                }
                "schemas" => answer(json!({ "tools": schemas() })),
                _ => answer(json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] })),
            },
            // The others never answer.
            "tools/call" if mode == "other" => answer(json!({ "prompts": [] })),
            _ => {}
        }
    }
}

fn schemas() -> Value {
    let mut bomb = Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/{}", n + 1) });
        bomb.insert(n.to_string(), json!({ "allOf": [next, next] }));
    }
    bomb.insert("40".into(), json!({}));
    json!([
        { "name": "remote", "inputSchema": { "type": "object", "$ref": "http://127.0.0.1:1/schema" } },
        { "name": "bomb", "inputSchema": { "type": "object", "$defs": bomb, "$ref": "#/$defs/0" } },
        { "name": "large", "inputSchema": { "type": "object", "description": "x".repeat(100_000) } },
        { "name": "t", "inputSchema": { "type": "object" } },
    ])
}
