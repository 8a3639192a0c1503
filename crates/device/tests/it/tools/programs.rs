//! Programs that offer tools on a local socket.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use device::{
    Consent, Roots,
    tools::{Shelf, TOOLS_BYTES_MAX, TOOLS_MAX, ToolSocket},
};
use protocol::relay::RelayErrorCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::within;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::support::{Lent, SOON, config, names, script, variables, written};

/// A program that says what a test wants: lines, and nothing that knows the relay.
pub(crate) struct Script {
    heard: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Script {
    pub(crate) async fn raw(path: &Path) -> Self {
        let (read, write) = UnixStream::connect(path).await.unwrap().into_split();
        Self { heard: BufReader::new(read).lines(), write }
    }

    pub(crate) async fn connect(path: &Path, client_id: &str) -> Self {
        let mut script = Self::raw(path).await;
        let hello = json!({
            "type": "hello", "protocol": "ya-environment-relay.v1", "client_id": client_id, "client_kind": "program",
            "client_version": "1", "capabilities": { "tools": { "enabled": true, "tool_count": 0 } },
        });
        script.say(&hello).await;
        let accepted = script.hear().await.unwrap();
        assert_eq!(accepted["event"], "relay.accepted", "{accepted}");
        assert_eq!(accepted["payload"]["accepted_capabilities"], json!(["tools"]));
        script
    }

    pub(crate) async fn say(&mut self, frame: &Value) {
        self.write.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
    }

    /// The next frame that is no heartbeat; those are answered. None at the end.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        loop {
            let line = within(SOON, self.heard.next_line()).await.ok()??;
            let mut frame: Value = serde_json::from_str(&line).unwrap();
            if frame["type"] == "ping" {
                frame["type"] = "pong".into();
                self.say(&frame).await;
            } else {
                return Some(frame);
            }
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.say(&json!({ "type": "request", "id": "r", "method": method, "params": params })).await;
        self.hear().await.unwrap()
    }

    /// What is said of tools that are registered.
    pub(crate) async fn register(&mut self, tools: &[Value]) -> Value {
        self.ask("tool.register", json!({ "tools": tools })).await["result"].clone()
    }
}

pub(crate) fn descriptor(name: &str, input_schema: Value) -> Value {
    json!({
        "name": name, "description": "a test", "input_schema": input_schema, "capability": "tools",
        "risk": "low", "approval_policy": "allow",
    })
}

pub(crate) fn socket_at(directory: &TempDir) -> PathBuf {
    directory.path().join("tools.sock")
}

/// A device with one command, at whose socket programs may offer tools.
async fn lent() -> (Lent, TempDir) {
    let directory = written(&script("paint", "cat", ""));
    let shelf = Shelf::default();
    shelf.put_commands(&config(&directory), &variables(), &Roots::default()).unwrap();
    let mut lent = Lent::with(shelf, Consent::default()).await;
    let socket = ToolSocket::open(&socket_at(&directory)).unwrap();
    let (shelf, stop) = (lent.shelf.clone(), lent.stop.clone());
    lent.spawn(socket.serve(shelf, stop));
    (lent, directory)
}

/// relay-85, relay-86, relay-89: a program registers a tool, is asked to use it and may be told to stop; when it leaves, the tool is gone.
#[tokio::test]
async fn a_program_offers_a_tool_for_as_long_as_it_is_there() {
    let (lent, directory) = lent().await;
    let mut program = Script::connect(&socket_at(&directory), "printer").await;
    let schema = json!({ "type": "object", "required": ["page"] });
    let said = program.register(&[descriptor("print", schema)]).await;
    assert_eq!(said, json!({ "registered": ["print"], "rejected": [] }));
    lent.has(&["paint", "print"]).await;

    // Arguments that do not fit never reach it.
    assert_eq!(lent.call("print", json!({})).await.unwrap_err().code, RelayErrorCode::InvalidRequest);
    let call = lent.begin("tool.call", json!({ "name": "print", "arguments": { "page": 1 } }), None).await;
    let asked = program.hear().await.unwrap();
    assert_eq!((&asked["type"], &asked["method"]), (&json!("request"), &json!("tool.call")));
    assert_eq!(asked["params"], json!({ "name": "print", "arguments": { "page": 1 } }));
    program.say(&json!({ "type": "response", "id": asked["id"], "result": { "content": "printed" } })).await;
    let answer: Value = within(SOON, call.outcome()).await.unwrap().read().unwrap();
    assert_eq!(answer, json!({ "content": "printed" }));

    // relay-89: it hears that it is cancelled.
    let params = json!({ "name": "print", "arguments": { "page": 2 }, "call_id": "c" });
    let call = lent.begin("tool.call", params, None).await;
    let asked = program.hear().await.unwrap();
    lent.ask("tool.cancel", json!({ "call_id": "c" }), None).await.unwrap();
    assert_eq!(within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
    let told = program.hear().await.unwrap();
    assert_eq!((&told["type"], &told["id"]), (&json!("cancel"), &asked["id"]));
    program.say(&json!({ "type": "response", "id": asked["id"], "error": { "code": "cancelled", "message": "", "recoverable": true } })).await;

    // It takes tools away again.
    program.register(&[descriptor("scan", json!({}))]).await;
    let said = program.ask("tool.unregister", json!({ "names": ["scan", "paint", "other"] })).await;
    assert_eq!(said["result"], json!({ "unregistered": ["scan"] }), "and only its own");
    lent.has(&["paint", "print"]).await;

    // A use that goes on when it leaves comes to an end, and the tool is gone.
    let call = lent.begin("tool.call", json!({ "name": "print", "arguments": { "page": 3 } }), None).await;
    program.hear().await.unwrap();
    drop(program);
    assert_eq!(within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::CapabilityUnavailable);
    lent.has(&["paint"]).await;
    assert_eq!(lent.call("print", json!({ "page": 1 })).await.unwrap_err().code, RelayErrorCode::NotFound);
}

/// relay-88: names are unique; whoever comes second is told.
#[tokio::test]
async fn a_name_that_is_taken_is_refused_and_said_so() {
    let (lent, directory) = lent().await;
    let path = socket_at(&directory);
    let (mut one, mut two) = (Script::connect(&path, "one").await, Script::connect(&path, "two").await);
    let (scan, paint) = (descriptor("scan", json!({})), descriptor("paint", json!({})));
    let said = one.register(&[scan.clone(), paint]).await;
    let taken = json!([{ "name": "paint", "reason": "another tool has the same name" }]);
    assert_eq!(said, json!({ "registered": ["scan"], "rejected": taken }));
    let said = two.register(std::slice::from_ref(&scan)).await;
    assert_eq!(said["registered"], json!([]));
    // Bad ones do not take the good ones with them.
    let said = two
        .register(&[
            json!({ "name": "a b" }),
            descriptor("far", json!({ "$ref": "https://example.com" })),
            descriptor("fine", json!({})),
        ])
        .await;
    assert_eq!(said["registered"], json!(["fine"]));
    assert_eq!(said["rejected"].as_array().unwrap().len(), 2, "{said}");
    lent.has(&["fine", "paint", "scan"]).await;
    drop(one);
    lent.has(&["fine", "paint"]).await;
    assert_eq!(two.register(&[scan]).await["registered"], json!(["scan"]), "now it is free");
}

/// What all tools say of themselves fits in one message, however many are offered.
#[tokio::test]
async fn there_are_no_more_tools_than_can_be_listed() {
    let (lent, directory) = lent().await;
    let mut program = Script::connect(&socket_at(&directory), "many").await;
    let many: Vec<_> = (0..300).map(|n| descriptor(&format!("t{n}"), json!({}))).collect();
    let said = program.register(&many).await;
    assert_eq!(said["registered"].as_array().unwrap().len(), TOOLS_MAX - 1);
    let all: Vec<_> = (0..300).map(|n| format!("t{n}")).collect();
    program.ask("tool.unregister", json!({ "names": all })).await;
    for n in 0..30 {
        let large = json!({ "type": "object", "description": "x".repeat(60_000) });
        program.register(&[descriptor(&format!("large{n}"), large)]).await;
    }
    let listed = lent.ask("tool.list", json!({}), None).await.unwrap();
    assert!((10..15).contains(&names(&listed).len()), "{}", names(&listed).len());
    assert!(listed.to_string().len() < TOOLS_BYTES_MAX + 100);
}

/// The socket is the owner's, nothing but tools is to be had at it, and whoever speaks something else is sent away.
#[tokio::test]
async fn the_socket_is_private_and_for_tools_only() {
    let (lent, directory) = lent().await;
    let path = socket_at(&directory);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(ToolSocket::open(&path).is_err(), "somebody listens there");
    let mut program = Script::connect(&path, "curious").await;
    for (method, code) in [
        ("tool.list", "invalid_request"),
        ("tool.call", "invalid_request"),
        ("file.read", "invalid_request"),
        ("artifact.reserve", "capability_unavailable"),
        ("nothing.at_all", "unknown_method"),
    ] {
        assert_eq!(program.ask(method, json!({})).await["error"]["code"], code, "{method}");
    }
    for noise in ["nonsense\n".to_owned(), "x".repeat(2 << 20), "{\"type\":\"hello\"}\n".into()] {
        let mut stranger = Script::raw(&path).await;
        // It may be sent away before all of it is said.
        let _ = stranger.write.write_all(noise.as_bytes()).await;
        let mut last = None;
        while let Some(frame) = stranger.hear().await {
            last = Some(frame);
        }
        let close = last.map(|frame| frame["close"]["code"].clone());
        assert!(
            close.as_ref().is_none_or(|code| (1007..=1009).contains(&code.as_u64().unwrap())),
            "{close:?}"
        );
    }
    lent.has(&["paint"]).await;
    lent.end().await;
    assert!(!path.exists(), "it is removed at the end");
}

/// A socket that was left behind is no hindrance.
#[tokio::test]
async fn a_socket_that_was_left_behind_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = socket_at(&directory);
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    ToolSocket::open(&path).unwrap();
    // What is no socket is not touched.
    std::fs::write(&path, "mine").unwrap();
    assert!(ToolSocket::open(&path).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

/// A directory whose name is longer than an address may be is reached all the same, as it is for its owner.
#[tokio::test]
async fn a_socket_may_lie_deep() {
    let directory = tempfile::tempdir().unwrap();
    let deep = directory.path().join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let path = deep.join("tools.sock");
    let socket = ToolSocket::open(&path).unwrap();
    assert_eq!(ToolSocket::open(&path).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    drop(socket);
    assert!(!path.exists());
}

/// What a program answers that makes no sense, or is too large, is a failure of its tool and of nothing else.
#[tokio::test]
async fn an_answer_that_makes_no_sense_is_a_failure_of_the_tool() {
    let (lent, directory) = lent().await;
    let mut program = Script::connect(&socket_at(&directory), "odd").await;
    program.register(&[descriptor("odd", json!({}))]).await;
    for (said, code) in [
        (json!({ "result": { "no": "content" } }), RelayErrorCode::ProviderError),
        (json!({ "result": 3 }), RelayErrorCode::ProviderError),
        (
            json!({ "error": { "code": "unknown_method", "message": "?", "recoverable": false } }),
            RelayErrorCode::ProviderError,
        ),
        (
            json!({ "error": { "code": "not_found", "message": "?", "recoverable": false } }),
            RelayErrorCode::NotFound,
        ),
    ] {
        let call = lent.begin("tool.call", json!({ "name": "odd" }), None).await;
        let mut response = said;
        response["id"] = program.hear().await.unwrap()["id"].clone();
        response["type"] = "response".into();
        program.say(&response).await;
        assert_eq!(within(SOON, call.outcome()).await.unwrap_err().code, code);
    }
    // Not to answer a request that was never made is not allowed to a peer.
    let call = lent.begin("tool.call", json!({ "name": "odd" }), None).await;
    let id = program.hear().await.unwrap()["id"].clone();
    let large = json!({ "type": "response", "id": id, "result": { "content": "x".repeat(950 << 10) } });
    program.say(&large).await;
    assert_eq!(within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::CapabilityUnavailable);
    lent.has(&["paint"]).await;
}

/// A program of another user is not heard, even if it gets as far as the socket. Only root can be somebody else.
#[tokio::test]
async fn a_program_of_another_user_is_not_heard() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: a_program_of_another_user_is_not_heard needs root");
        return;
    }
    let (lent, directory) = lent().await;
    let path = socket_at(&directory);
    for (open, mode) in [(directory.path(), 0o755), (path.as_path(), 0o666)] {
        std::fs::set_permissions(open, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // What it hears after it has said hello: one line, or nothing.
    let program = "import socket,sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read()); \
                   sys.stdout.write(s.makefile().readline())";
    let hello = json!({
        "type": "hello", "protocol": "ya-environment-relay.v1", "client_id": "x", "client_kind": "program", "client_version": "1",
    });
    let heard = async |user: &str| {
        let mut command = tokio::process::Command::new("setpriv");
        command.args([user, "--clear-groups", "/usr/bin/python3", "-c", program]).arg(&path);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        // It may be sent away before all of it is said.
        let _ = child.stdin.take().unwrap().write_all(format!("{hello}\n").as_bytes()).await;
        String::from_utf8(within(SOON, child.wait_with_output()).await.unwrap().stdout).unwrap()
    };
    assert!(heard("--reuid=0").await.contains("relay.accepted"), "the same user is heard");
    assert_eq!(heard("--reuid=65534").await, "");
    lent.has(&["paint"]).await;
}
