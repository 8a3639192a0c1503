//! The token that a daemon generates for itself: its user's commands find it, and nobody else does.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{TestDaemon, TestDaemonOptions, within_blocking};

use super::private::refused;
use crate::{TOMBOLO, secs};

/// The user `nobody`, who is on every machine.
const OTHER_USER: u32 = 65534;

fn start() -> TestDaemon {
    TestDaemonOptions::default().generated_token().start(TOMBOLO)
}

fn token_file(daemon: &TestDaemon) -> PathBuf {
    daemon.home().join(".local/share/tombolo/daemon-token")
}

/// A command of the user with this home, who passes no token.
fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(TOMBOLO);
    command.args(args).env("HOME", home).current_dir(home).stdin(Stdio::null());
    for name in ["TOMBOLO_TOKEN", "TOMBOLO_ENDPOINT", "TOMBOLO_HUB", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    command
}

fn run(home: &Path, endpoint: &str, args: &[&str]) -> Output {
    command(home, args).args(["--endpoint", endpoint]).output().unwrap()
}

/// Runs a command with this standard input.
fn run_with_input(mut command: Command, input: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The first line that a bridge prints. Its input stays open until then, because the end of its input ends it.
fn first_answer(mut bridge: Command, input: &str) -> String {
    let mut child = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    drop(stdin);
    child.wait().unwrap();
    line
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn assert_success(output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[tokio::test]
async fn a_daemon_without_options_wants_a_token() {
    let daemon = start();
    for path in ["/v1/processes", "/v1/sessions", "/v1/fs/entries?path=.", "/metrics"] {
        let response = daemon.get(path).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        let problem: Value = response.json().await.unwrap();
        assert!(problem["detail"].as_str().unwrap().contains("daemon-token"), "{problem}");
    }
    assert_eq!(daemon.get("/v1/health").await.status(), StatusCode::OK);
    assert_eq!(daemon.get("/").await.status(), StatusCode::OK);
    let token = fs::read_to_string(token_file(&daemon)).unwrap();
    let listed = reqwest::Client::new().get(format!("{}/v1/processes", daemon.base()));
    assert_eq!(listed.bearer_auth(token.trim()).send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn commands_of_the_same_user_need_no_option() {
    let daemon = start();
    let home = daemon.home();
    let ask = |args: &[&str]| run(&home, daemon.base(), args);
    assert_success(&ask(&["api", "processes", "list"]));
    assert_success(&ask(&["api", "sessions", "create", "hello", "--agent", "mock"]));
    assert_success(&ask(&["waits"]));
    let by_name = daemon.base().replace("127.0.0.1", "localhost");
    assert_success(&run(&home, &by_name, &["api", "processes", "list"]));
    let chat = command(&home, &["chat", "--agent", "mock", "--endpoint", daemon.base()]);
    let chat = run_with_input(chat, "hello\n");
    assert_success(&chat);
    assert_eq!(text(&chat.stdout), "hello\n");
    let acp = command(&home, &["acp", "--agent", "mock", "--endpoint", daemon.base()]);
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } });
    assert!(first_answer(acp, &format!("{initialize}\n")).contains("protocolVersion"));
}

#[tokio::test]
async fn a_command_with_another_home_is_told_what_to_do() {
    let daemon = start();
    let home = TempDir::new().unwrap();
    let refused = run(home.path(), daemon.base(), &["api", "processes", "list"]);
    assert!(!refused.status.success());
    let message = text(&refused.stderr);
    assert!(message.contains("--token-file") && message.contains("daemon-token"), "{message}");
    let file = token_file(&daemon);
    let args = ["api", "processes", "list", "--token-file", file.to_str().unwrap()];
    assert_success(&run(home.path(), daemon.base(), &args));
}

/// Only root can be another user.
#[tokio::test]
async fn another_user_of_the_machine_gets_nothing() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("SKIPPED: another_user_of_the_machine_gets_nothing needs root");
        return;
    }
    let daemon = start();
    // As homes often are: the daemon's own files must be private by themselves.
    fs::set_permissions(daemon.home(), Permissions::from_mode(0o755)).unwrap();
    let as_other = |program: &[&str]| {
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={OTHER_USER}")).arg(format!("--regid={OTHER_USER}"));
        command.arg("--clear-groups").args(program).current_dir("/").output().unwrap()
    };
    let file = token_file(&daemon);
    let read = as_other(&["cat", file.to_str().unwrap()]);
    assert!(text(&read.stderr).contains("Permission denied"), "{read:?}");
    fs::set_permissions(file.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
    let read = as_other(&["cat", file.to_str().unwrap()]);
    assert!(text(&read.stderr).contains("Permission denied"), "{read:?}");
    let script = "import sys, urllib.request as r, urllib.error as e\n\
                  try: r.urlopen(r.Request(sys.argv[1], sys.argv[2].encode(), {'content-type': 'application/json'}))\n\
                  except e.HTTPError as error: print(error.code)";
    let url = format!("{}/v1/processes", daemon.base());
    let start = json!({ "command": "id" }).to_string();
    let answer = as_other(&["/usr/bin/python3", "-c", script, &url, &start]);
    assert_eq!(text(&answer.stdout), "401\n", "{}", text(&answer.stderr));
}

#[tokio::test]
async fn the_token_stays_the_same_and_becomes_private() {
    let mut daemon = start();
    let file = token_file(&daemon);
    let mode = || file.metadata().unwrap().permissions().mode() & 0o777;
    let token = fs::read_to_string(&file).unwrap();
    assert_eq!(mode(), 0o600);
    // 256 bits in base64.
    assert!(token.trim().len() >= 43, "{}", token.len());
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    daemon.kill_and_restart();
    assert_eq!((fs::read_to_string(&file).unwrap(), mode()), (token, 0o600));
    assert_success(&run(&daemon.home(), daemon.base(), &["api", "processes", "list"]));
}

/// In a shared directory another user could leave a token that he knows.
#[test]
fn a_token_that_another_user_left_is_refused() {
    let shared = TempDir::new().unwrap();
    fs::set_permissions(shared.path(), Permissions::from_mode(0o1777)).unwrap();
    let file = shared.path().join("daemon-token");
    let real = shared.path().join("known-to-others");
    fs::write(&real, "known-to-others-0123456789").unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    let message = refused(shared.path());
    assert!(message.contains("daemon-token"), "{message}");
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        fs::rename(&real, &file).unwrap();
        chown(&file, Some(OTHER_USER), None).unwrap();
        let message = refused(shared.path());
        assert!(message.contains("belongs to another user"), "{message}");
    }
}

/// Answers one request like any web server and returns what it received.
fn serve_once(listener: TcpListener) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = Vec::new();
        let mut buffer = [0; 4096];
        while !received.windows(4).any(|window| window == b"\r\n\r\n") {
            let count = stream.read(&mut buffer).unwrap();
            assert_ne!(count, 0);
            received.extend_from_slice(&buffer[..count]);
        }
        let body = r#"{"items":[]}"#;
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length:";
        write!(stream, "{head} {}\r\n\r\n{body}", body.len()).unwrap();
        text(&received)
    })
}

/// The port of a daemon that has ended is free for every user of the machine.
#[tokio::test]
async fn the_token_is_not_sent_to_another_server_on_the_port() {
    let daemon = start();
    let (home, base) = (daemon.home(), daemon.base().to_owned());
    let address = base.strip_prefix("http://").unwrap().to_owned();
    let copy = TempDir::new().unwrap();
    // The home outlives the daemon, which removes its temporary one.
    let copied = Command::new("cp").arg("-a").arg(home.join(".local")).arg(copy.path()).status().unwrap();
    assert!(copied.success());
    drop(daemon);
    let other = serve_once(TcpListener::bind(&address).unwrap());
    assert_success(&run(copy.path(), &base, &["api", "processes", "list", "--json"]));
    let request = other.join().unwrap();
    assert!(request.starts_with("GET /v1/processes"), "{request}");
    assert!(!request.to_ascii_lowercase().contains("authorization"), "{request}");
}

/// `localhost` is also `::1`, where another user may listen on the same port.
#[tokio::test]
async fn the_token_goes_to_the_address_on_which_the_daemon_listens() {
    let daemon = start();
    let port: u16 = daemon.base().rsplit_once(':').unwrap().1.parse().unwrap();
    let Ok(other) = TcpListener::bind(("::1", port)) else { return };
    other.set_nonblocking(true).unwrap();
    let endpoint = format!("http://localhost:{port}");
    assert_success(&run(&daemon.home(), &endpoint, &["api", "processes", "list"]));
    assert!(other.accept().is_err(), "the command connected to the other server");
    other.set_nonblocking(false).unwrap();
    let other = serve_once(other);
    let endpoint = format!("http://[::1]:{port}");
    assert_success(&run(&daemon.home(), &endpoint, &["api", "processes", "list", "--json"]));
    assert!(!other.join().unwrap().to_ascii_lowercase().contains("authorization"));
}

/// A bridge reconnects for minutes. The daemon may be gone by then, and its port taken by another user.
#[tokio::test]
async fn a_command_that_reconnects_does_not_send_the_token_to_another_server() {
    let mut daemon = start();
    let (home, base) = (daemon.home(), daemon.base().to_owned());
    let args = ["acp", "--agent", "mock", "--endpoint", &base, "--reconnect-timeout", "1s"];
    let mut bridge = command(&home, &args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = bridge.stdin.take().unwrap();
    let mut stdout = BufReader::new(bridge.stdout.take().unwrap());
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } });
    writeln!(stdin, "{initialize}").unwrap();
    stdout.read_line(&mut String::new()).unwrap();
    // Its address changes, so that the old one is free.
    daemon.kill_and_restart();
    let other = TcpListener::bind(base.strip_prefix("http://").unwrap()).unwrap();
    let (sender, received) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for stream in other.incoming() {
            let mut head = [0; 4096];
            let count = stream.unwrap().read(&mut head).unwrap_or_default();
            let _ = sender.send(text(&head[..count]));
        }
    });
    writeln!(stdin, "{initialize}").unwrap();
    within_blocking(secs(30), || bridge.try_wait().unwrap().is_some());
    let received: Vec<String> = received.try_iter().collect();
    let has_token = |request: &String| request.to_ascii_lowercase().contains("authorization");
    assert!(!received.iter().any(has_token), "{} requests with the token", received.len());
}
