//! Tools of MCP servers.

use std::sync::atomic::Ordering::SeqCst;

use device::{
    Consent, Roots,
    tools::{Servers, Shelf},
};
use futures_util::StreamExt;
use protocol::relay::RelayErrorCode;
use relay::Part;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::local::LocalSessionManager,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::within;
use tokio::{net::TcpListener, task::JoinSet};

use super::{
    mcp_server::{Good, program},
    programs::{Script, descriptor, socket_at},
    support::{Lent, SOON, config, content, is_running, names, script, until, variables, written},
};

/// A device with the MCP servers of a `tools.toml`.
pub(super) async fn lent(toml: &str) -> (Lent, TempDir) {
    let directory = written(toml);
    let (shelf, config) = (Shelf::default(), config(&directory));
    shelf.put_commands(&config, &variables(), &Roots::default()).unwrap();
    let servers = Servers::new(&config, &variables(), &shelf).unwrap();
    let mut lent = Lent::with(shelf, Consent::default()).await;
    lent.keep(servers);
    (lent, directory)
}

/// Tools that ask nobody.
fn select(names: &[&str]) -> String {
    let tools: Vec<_> = names.iter().map(|name| format!("{{ name = {name:?}, risk = \"low\" }}")).collect();
    format!("tools = [{}]\n", tools.join(", "))
}

fn on_stdio(names: &[&str]) -> String {
    format!("[mcp.good]\n{}{}", select(names), program("good"))
}

/// relay-90: selected tools of a program are tools of the device, with what their owner says of them, and no others are.
#[tokio::test]
async fn selected_tools_of_a_program_become_tools_of_the_device() {
    let tools = "tools = [{ name = \"echo\", risk = \"low\" }, { name = \"parts\", as = \"pieces\", approval = \"allow\" }, \"a.dotted/name\"]\n";
    let (lent, _directory) = lent(&format!("[mcp.good]\n{tools}{}", program("good"))).await;
    lent.has(&["a_dotted_name", "echo", "pieces"]).await;
    let listed = lent.ask("tool.list", json!({}), None).await.unwrap();
    assert_eq!(
        listed["tools"][1],
        json!({
            "name": "echo", "description": "does echo", "capability": "tools", "risk": "low", "approval_policy": "allow",
            "input_schema": { "type": "object", "properties": { "text": { "type": "string" } } },
        })
    );
    // What nothing is said about is asked before, as something can come of it.
    assert_eq!(
        (&listed["tools"][0]["risk"], &listed["tools"][0]["approval_policy"]),
        (&json!("medium"), &json!("ask_once_per_run"))
    );
    assert_eq!(
        lent.call("a_dotted_name", json!({})).await.unwrap_err().code,
        RelayErrorCode::ApprovalRequired
    );

    let answer = lent.call("echo", json!({ "text": "hello" })).await.unwrap();
    assert_eq!(answer, json!({ "content": "{\"text\":\"hello\"}" }));
    let answer = lent.call("pieces", json!({})).await.unwrap();
    assert_eq!(
        answer,
        json!({ "content": [
            { "type": "text", "text": "a" },
            { "type": "image", "data": "AA==", "mime_type": "image/png" },
            { "type": "audio", "data": "AQ==", "mimeType": "audio/wav" },
        ], "structured": { "n": 1 } })
    );
    // relay-87: what does not fit does not reach it.
    let error = lent.call("echo", json!({ "text": 1 })).await.unwrap_err();
    assert_eq!((error.code, &error.details["pointer"]), (RelayErrorCode::InvalidRequest, &json!("/text")));
    // What is not selected is not there.
    assert_eq!(lent.call("fails", json!({})).await.unwrap_err().code, RelayErrorCode::NotFound);
}

/// relay-84, relay-90: what a server says of a tool is kept: title, hints, and the schema of results where every client takes it.
#[tokio::test]
async fn the_hints_and_schemas_of_a_server_are_kept() {
    let (lent, _directory) = lent(&on_stdio(&["parts", "steps"])).await;
    lent.has(&["parts", "steps"]).await;
    let listed = lent.ask("tool.list", json!({}), None).await.unwrap();
    let (parts, steps) = (&listed["tools"][0], &listed["tools"][1]);
    assert_eq!(parts["title"], "Pieces");
    assert_eq!(parts["annotations"], json!({ "read_only": true, "idempotent": true }));
    assert_eq!(parts["output_schema"]["properties"], json!({ "n": { "type": "integer" } }));
    assert_eq!((&steps["output_schema"], &steps["annotations"]), (&Value::Null, &Value::Null));
}

/// relay-46: the progress that a server tells of a call is told, in order and before the result.
#[tokio::test]
async fn the_progress_of_a_server_is_told() {
    let (lent, _directory) = lent(&on_stdio(&["steps"])).await;
    lent.has(&["steps"]).await;
    let mut call = lent.begin("tool.call", json!({ "name": "steps", "arguments": {} }), None).await;
    let mut told = Vec::new();
    let ended = loop {
        match within(SOON, call.next()).await.unwrap() {
            Part::Stream(frame) => told.push((frame.event.clone(), frame.data.read::<Value>().unwrap())),
            Part::Outcome(outcome) => break outcome.unwrap().read::<Value>().unwrap(),
        }
    };
    let progress = |done: f64, message: &str| {
        ("progress".to_owned(), json!({ "progress": done, "total": 2.0, "message": message }))
    };
    assert_eq!(told, [progress(1.0, "first"), progress(2.0, "second")]);
    assert_eq!(ended["content"], "done");
}

/// Failures of a tool are answers, and failures of a use are errors.
#[tokio::test]
async fn failures_of_a_server_are_told_as_what_they_are() {
    let short =
        format!("{}timeout_ms = 1000\n", on_stdio(&["fails", "refuses", "variables", "large", "huge"]));
    let (lent, _directory) = lent(&short).await;
    lent.has(&["fails", "huge", "large", "refuses", "variables"]).await;
    let failed = lent.call("fails", json!({})).await.unwrap();
    assert_eq!(failed, json!({ "content": "it went wrong", "is_error": true }));
    let refused = lent.call("refuses", json!({})).await.unwrap_err();
    assert_eq!(
        (refused.code, &*refused.message),
        (RelayErrorCode::InvalidRequest, "the tool failed: not like this")
    );
    // What does not fit in a message is told as such; what is far too large is never held, so nobody knows what it was.
    let large = lent.call("large", json!({})).await.unwrap_err();
    assert_eq!((large.code, &large.details["limit"]), (RelayErrorCode::ProviderError, &json!(900 << 10)));
    assert_eq!(lent.call("huge", json!({})).await.unwrap_err().code, RelayErrorCode::Timeout);
    // relay-139: it gets its own secret and none of the device's.
    let variables = lent.call("variables", json!({})).await.unwrap().to_string();
    assert!(variables.contains("TOKEN") && !variables.contains("CARGO_MANIFEST_DIR"), "{variables}");
}

/// relay-86: a server that gets other tools says so, and the device follows.
#[tokio::test]
async fn other_tools_of_a_server_are_followed() {
    let (lent, _directory) = lent(&on_stdio(&["grow", "late"])).await;
    lent.has(&["grow"]).await;
    lent.call("grow", json!({})).await.unwrap();
    lent.has(&["grow", "late"]).await;
    assert_eq!(lent.call("late", json!({})).await.unwrap()["content"], "{}");
}

/// relay-89: a server hears that a use of its tool is cancelled.
#[tokio::test]
async fn a_server_hears_that_a_use_is_cancelled() {
    let (lent, directory) = lent(&on_stdio(&["waits", "echo"])).await;
    lent.has(&["echo", "waits"]).await;
    let path = directory.path().join("state");
    let params = json!({ "name": "waits", "arguments": { "text": path }, "call_id": "c" });
    let call = lent.begin("tool.call", params, None).await;
    assert_eq!(content(&path).await, "waiting\n");
    lent.ask("tool.cancel", json!({ "call_id": "c" }), None).await.unwrap();
    assert_eq!(within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
    until(|| std::fs::read_to_string(&path).unwrap().contains("cancelled")).await;
    // It goes on with others.
    lent.call("echo", json!({})).await.unwrap();
}

/// A server that dies is started again; meanwhile its tools are not there, and their names are nobody else's.
#[tokio::test]
async fn a_server_that_dies_is_started_again() {
    let toml = on_stdio(&["dies", "echo"]);
    let (mut lent, directory) = lent(&toml).await;
    let socket = device::tools::ToolSocket::open(&socket_at(&directory)).unwrap();
    let (shelf, stop) = (lent.shelf.clone(), lent.stop.clone());
    lent.spawn(socket.serve(shelf, stop));
    let mut thief = Script::connect(&socket_at(&directory), "thief").await;
    lent.has(&["dies", "echo"]).await;
    let registered = lent.hub.told.lock().len();
    for _ in 0..2 {
        let died = lent.call("dies", json!({})).await.unwrap_err();
        assert_eq!(died.code, RelayErrorCode::CapabilityUnavailable);
        let said = thief.register(&[descriptor("echo", json!({}))]).await;
        assert_eq!(said["registered"], json!([]), "{said}");
        lent.has(&["dies", "echo"]).await;
        within(SOON, async {
            while lent.call("echo", json!({})).await.is_err() {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
    // relay-86: the relay server was told each time.
    let told = lent.hub.told.lock().clone();
    assert!(told.len() >= registered + 4, "{told:?}");
}

/// Nothing of a server is left when the device stops.
#[tokio::test]
async fn no_server_outlives_the_device() {
    let toml = format!(
        "[mcp.good]\n{}command = [\"sh\", \"-c\", 'echo $$ >pid; trap \"\" TERM; {}']\n",
        select(&["t"]),
        "while read line; do :; done; sleep 600",
    );
    let (lent, directory) = lent(&toml).await;
    let pid: u32 = content(&directory.path().join("pid")).await.trim().parse().unwrap();
    assert!(is_running(pid));
    lent.end().await;
    assert!(!is_running(pid));
}

/// relay-88: a tool that has the name of a command has that of its server before it.
#[tokio::test]
async fn a_clash_with_a_command_is_resolved_by_a_prefix() {
    let (lent, _directory) =
        lent(&format!("{}{}", script("echo", "printf own", ""), on_stdio(&["echo"]))).await;
    lent.has(&["echo", "good_echo"]).await;
    assert_eq!(lent.call("echo", json!({})).await.unwrap()["content"], "own");
    assert_eq!(lent.call("good_echo", json!({})).await.unwrap()["content"], "{}");
}

/// A server over HTTP, in this process, that wants a token.
struct OverHttp {
    url: String,
    good: Good,
    tasks: JoinSet<()>,
}

impl OverHttp {
    async fn start(config: StreamableHttpServerConfig) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").await.unwrap(), config, Good::default())
    }

    fn at(listener: TcpListener, config: StreamableHttpServerConfig, good: Good) -> Self {
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let served = good.clone();
        let service = StreamableHttpService::new(
            move || Ok(served.clone()),
            LocalSessionManager::default().into(),
            config,
        );
        let guarded = axum::middleware::from_fn(
            |request: axum::extract::Request, next: axum::middleware::Next| async {
                let token = request.headers().get("authorization").cloned();
                match token.is_some_and(|token| token == "Bearer hunter2") {
                    true => next.run(request).await,
                    false => {
                        axum::response::IntoResponse::into_response(axum::http::StatusCode::UNAUTHORIZED)
                    }
                }
            },
        );
        let app = axum::Router::new().route_service("/mcp", service).layer(guarded);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, good, tasks }
    }

    fn toml(&self, names: &[&str], token: &str) -> String {
        format!(
            "[mcp.far]\nurl = {:?}\nheaders = {{ Authorization = \"Bearer {token}\" }}\n{}",
            self.url,
            select(names)
        )
    }
}

/// relay-90: the same over HTTP, with a token, in both ways in which a server may answer.
#[tokio::test]
async fn selected_tools_of_a_server_over_http_become_tools_of_the_device() {
    let plain =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    for config in [StreamableHttpServerConfig::default(), plain] {
        let server = OverHttp::start(config).await;
        let (lent, _directory) = lent(&server.toml(&["echo", "parts", "waits", "fails"], "hunter2")).await;
        lent.has(&["echo", "fails", "parts", "waits"]).await;
        let answer = lent.call("echo", json!({ "text": "hello" })).await.unwrap();
        assert_eq!(answer, json!({ "content": "{\"text\":\"hello\"}" }));
        assert_eq!(lent.call("parts", json!({})).await.unwrap()["content"][1]["mime_type"], "image/png");
        assert_eq!(lent.call("fails", json!({})).await.unwrap()["is_error"], true);
        // relay-89
        let call = lent.begin("tool.call", json!({ "name": "waits", "call_id": "c" }), None).await;
        until(|| server.good.waiting.load(SeqCst) > 0).await;
        lent.ask("tool.cancel", json!({ "call_id": "c" }), None).await.unwrap();
        assert_eq!(within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
        lent.call("echo", json!({})).await.unwrap();
    }
}

/// relay-86 over HTTP.
#[tokio::test]
async fn other_tools_of_a_server_over_http_are_followed() {
    let server = OverHttp::start(StreamableHttpServerConfig::default()).await;
    let (lent, _directory) = lent(&server.toml(&["grow", "late"], "hunter2")).await;
    lent.has(&["grow"]).await;
    lent.call("grow", json!({})).await.unwrap();
    lent.has(&["grow", "late"]).await;
}

/// relay-90: a server that knows only the newest revision, which begins without a handshake, is as good.
#[tokio::test]
async fn a_server_of_the_newest_revision_only_is_spoken_to_as_it_wants() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let good = Good { is_modern: true, ..Good::default() };
    let server = OverHttp::at(listener, StreamableHttpServerConfig::default(), good);
    let program = format!("[mcp.good]\n{}{}", select(&["grow", "late"]), program("modern"));
    for toml in [server.toml(&["grow", "late"], "hunter2"), program] {
        let (lent, _directory) = lent(&toml).await;
        lent.has(&["grow"]).await;
        lent.call("grow", json!({})).await.unwrap();
        lent.has(&["grow", "late"]).await;
        assert_eq!(lent.call("late", json!({ "text": "x" })).await.unwrap()["content"], "{\"text\":\"x\"}");
    }
}

/// A server that goes away takes its tools with it, and brings them back.
#[tokio::test]
async fn a_server_over_http_that_comes_back_has_its_tools_again() {
    let server = OverHttp::start(StreamableHttpServerConfig::default()).await;
    let (lent, _directory) = lent(&server.toml(&["echo"], "hunter2")).await;
    lent.has(&["echo"]).await;
    let OverHttp { url, mut tasks, .. } = server;
    tasks.shutdown().await;
    // The connections that there are may live on; a use finds out.
    within(SOON, async {
        while lent.call("echo", json!({})).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    lent.has(&[]).await;
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let listener = within(SOON, async {
        loop {
            match TcpListener::bind(&address).await {
                Ok(listener) => return listener,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    })
    .await;
    let _server = OverHttp::at(listener, StreamableHttpServerConfig::default(), Good::default());
    lent.has(&["echo"]).await;
    lent.call("echo", json!({})).await.unwrap();
}

/// Who has no token gets nothing, and the device goes on.
#[tokio::test]
async fn a_server_that_refuses_the_token_has_no_tools_here() {
    let server = OverHttp::start(StreamableHttpServerConfig::default()).await;
    let toml = format!("{}{}", script("own", "true", ""), server.toml(&["echo"], "wrong"));
    let (lent, _directory) = lent(&toml).await;
    lent.has(&["own"]).await;
    let listed: Value = lent.ask("tool.list", json!({}), None).await.unwrap();
    assert_eq!(names(&listed), ["own"]);
}
