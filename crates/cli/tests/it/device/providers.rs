//! What a device lends, put together: directories, commands and tools.

use std::{
    io::Read,
    time::{Duration, Instant},
};

use serde_json::json;

use super::*;
use crate::device_tools::TOOLS;

/// relay-19, relay-20, relay-21, relay-23, relay-175: what is lent is said, and nothing else is.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_lent_is_said_and_nothing_else() {
    let mut hub = StandIn::start().await;
    let place = Place::new();
    std::fs::create_dir(place.path("docs")).unwrap();
    std::fs::write(place.path("tools.toml"), TOOLS).unwrap();
    let config = "tools = \"tools.toml\"\n[roots]\nmain = \"~/code:rw\"\ndocs = { path = \"docs\", label = \"Documents\" }\n[shell]\n";
    std::fs::write(place.path("device.toml"), config).unwrap();
    let lender = place.connect(&hub, &["--config", "device.toml"]);
    let connected = hub.next().await;
    let said = serde_json::to_value(&connected.hello.capabilities).unwrap();
    assert_eq!(
        said["fileops"],
        json!({ "enabled": true, "roots": [
            { "root_id": "docs", "label": "Documents", "virtual_path": "/workspace/docs", "mode": "ro" },
            { "root_id": "main", "virtual_path": "/workspace/main", "mode": "rw" },
        ] })
    );
    assert_eq!(
        said["shell"],
        json!({ "enabled": true, "runtime": "sandboxed_local_shell", "interactive": true })
    );
    assert_eq!(said["tools"], json!({ "enabled": true, "tool_count": 1 }));
    let said: Vec<_> = said.as_object().unwrap().keys().collect();
    assert_eq!(said, ["extensions", "fileops", "flow", "shell", "tools"]);
    lender.said("lent: docs ro, main rw, shell (sandboxed_local_shell), 1 tools");
    // Each does what it says.
    std::fs::write(lender.place.path("code/a.txt"), "hello").unwrap();
    let read =
        connected.ask("file.read", json!({ "root_id": "main", "path": "a.txt", "encoding": "utf-8" })).await;
    assert_eq!(read.unwrap()["content"], "hello");
    let start = json!({ "command": "cat a.txt > b.txt; exit 3", "cwd": "/workspace/main" });
    assert_eq!(connected.ask("shell.start", start).await.unwrap()["exit_code"], 3);
    assert_eq!(std::fs::read_to_string(lender.place.path("code/b.txt")).unwrap(), "hello");
    let call = json!({ "name": "shout", "arguments": { "x": "hello" } });
    let answer = connected.ask("tool.call", call).await.unwrap();
    assert!(answer.to_string().contains("HELLO"), "{answer}");
    // relay-43, relay-135: nothing of where it is.
    let refused =
        connected.ask("file.read", json!({ "root_id": "main", "path": "no.txt", "encoding": "utf-8" })).await;
    let refused = serde_json::to_string(&refused.unwrap_err()).unwrap();
    assert!(!refused.contains(lender.place.path("").to_str().unwrap()), "{refused}");
}

/// relay-129, relay-175: what the owner does not want is not done, whatever is granted.
#[tokio::test(flavor = "multi_thread")]
async fn the_stricter_holds() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start_with(&hub, &["--ask", "writes=block"]);
    let connected = hub.next().await;
    lender.said("connected to");
    let write = json!({ "root_id": "main", "path": "a.txt", "content": "x", "encoding": "utf-8" });
    assert_eq!(connected.ask("file.write", write).await.unwrap_err().code.as_str(), "policy_blocked");
    let start = connected.ask("shell.start", json!({ "command": "true", "cwd": "/workspace/main" })).await;
    assert_eq!(start.unwrap_err().code.as_str(), "capability_unavailable");
    assert!(!lender.place.path("code/a.txt").exists());
}

/// relay-155, relay-157: `stop` ends what runs, in the foreground and in the background, also what does not want to.
#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_what_runs() {
    let mut hub = StandIn::start().await;
    let mut lender = Lender::start_with(&hub, &["--shell"]);
    let connected = hub.next().await;
    lender.said("connected to");
    // A time that nobody else sleeps for, by which those outside find them.
    let mark = format!("86{}", std::process::id());
    let start = |line: &str, background: bool| {
        let command = format!("{line}; sleep {mark} & wait; sleep {mark}");
        json!({ "command": command, "cwd": "/workspace/main", "background": background })
    };
    connected.ask("shell.start", start("trap '' TERM", true)).await.unwrap();
    let foreground = connected.ask("shell.start", start(":", false));
    let stopping = async {
        tokio::task::block_in_place(|| {
            within_blocking(secs(10), || sleepers(&mark).len() >= 2);
            let status = lender.place.status().unwrap();
            assert_eq!(status["running"][0]["method"], "shell.start", "{status}");
            let since = Instant::now();
            assert!(lender.place.run(&["stop"]).status.success());
            since.elapsed()
        })
    };
    let (ended, took) = tokio::join!(foreground, stopping);
    ended.unwrap_err();
    // Commands have 600 ms; the rest is for starting `tombolo device stop` and for writing the log.
    assert!(took < Duration::from_millis(1500), "{took:?}");
    assert_eq!(sleepers(&mark), Vec::<String>::new());
    assert_eq!(lender.ended(), Some(0));
    let verified = text(&lender.place.run(&["audit", "verify"]).stdout);
    assert!(verified.starts_with("intact") && !verified.contains("no recorded end"), "{verified}");
    let list = text(&lender.place.run(&["audit", "list"]).stdout);
    assert!(list.contains("cancelled"), "{list}");
}

/// relay-178: what runs in the background is shown until it has ended.
#[tokio::test(flavor = "multi_thread")]
async fn what_runs_in_the_background_is_shown() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start_with(&hub, &["--shell"]);
    let connected = hub.next().await;
    lender.said("connected to");
    let start = json!({ "command": "cat", "cwd": "/workspace/main", "background": true });
    let started = connected.ask("shell.start", start).await.unwrap();
    let status = lender.place.status().unwrap();
    assert_eq!(status["running"][0]["summary"]["command_id"], started["command_id"], "{status}");
    assert!(text(&lender.place.run(&["status"]).stdout).contains("shell.start  cat"));
    assert!(text(&lender.place.run(&["audit", "list"]).stdout).contains("no recorded end"));
    let end = json!({ "command_id": started["command_id"], "data": "", "eof": true });
    connected.ask("shell.input", end).await.unwrap();
    within_blocking(secs(10), || lender.place.status().unwrap()["running"] == json!([]));
    let list = text(&lender.place.run(&["audit", "list"]).stdout);
    assert!(!list.contains("no recorded end"), "{list}");
    let lines = std::fs::read_to_string(lender.audit()).unwrap();
    assert!(lines.lines().any(|line| line.contains("\"exit_code\":0")), "{lines}");
}

/// relay-155, relay-157: nothing goes on when `stop` has said so: no deletion, …
#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_a_deletion() {
    let mut hub = StandIn::start().await;
    let memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let root = format!("large={}:rw", memory.path().display());
    let mut lender = Lender::start_with(&hub, &["--root", &root]);
    let connected = hub.next().await;
    lender.said("connected to");
    let tree = memory.path().join("tree");
    let count = || std::fs::read_dir(&tree).map_or(0, Iterator::count);
    (0..150_000).for_each(|number| std::fs::create_dir_all(tree.join(number.to_string())).unwrap());
    let delete = json!({ "root_id": "large", "path": "tree", "recursive": true });
    let stopping = async {
        tokio::task::block_in_place(|| {
            within_blocking(secs(10), || count() < 150_000);
            let since = Instant::now();
            assert!(lender.place.run(&["stop"]).status.success());
            (since.elapsed(), count())
        })
    };
    let (deleted, (took, left)) = tokio::join!(connected.ask("file.delete", delete), stopping);
    deleted.unwrap_err();
    assert!(left > 0 && took < secs(2), "{left} were left after {took:?}");
    assert_eq!(lender.ended(), Some(0));
    assert_eq!(count(), left);
    let list = text(&lender.place.run(&["audit", "list"]).stdout);
    assert!(list.contains("cancelled"), "{list}");
}

/// relay-155, relay-157: … and no program that offers tools.
#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_servers_of_tools() {
    let mut hub = StandIn::start().await;
    let place = Place::new();
    // It reads nothing, and does not want to go.
    let mark = format!("87{}", std::process::id());
    let server = format!("command = [\"sh\", \"-c\", \"trap '' TERM; sleep {mark}; sleep {mark}\"]");
    std::fs::write(place.path("tools.toml"), format!("[mcp.s]\ntools = [\"t\"]\n{server}\n")).unwrap();
    let mut lender = place.connect(&hub, &["--tools", "tools.toml"]);
    hub.next().await;
    within_blocking(secs(10), || sleepers(&mark).len() == 1);
    let stopped = lender.place.run(&["stop"]);
    assert_eq!(sleepers(&mark), Vec::<String>::new());
    assert!(stopped.status.success(), "{}", text(&stopped.stderr));
    assert_eq!(lender.ended(), Some(0));
}

/// relay-53: a tool that is ended leaves nobody, whatever they have left behind and whomever they have lost.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_hides_from_the_end_of_a_tool() {
    let mut hub = StandIn::start().await;
    let place = Place::new();
    let mark = format!("87{}", std::process::id());
    let hide = format!("setsid env -i sh -c 'echo > hidden; exec sleep {mark}' >/dev/null 2>&1");
    let tools = TOOLS
        .replace("shout", "hide")
        .replace(r#"["tr", "a-z", "A-Z"]"#, &format!(r#"["sh", "-c", "({hide} &); {hide}"]"#))
        + "timeout_ms = 1000\n";
    std::fs::write(place.path("tools.toml"), tools).unwrap();
    std::fs::write(place.path("device.toml"), "tools = \"tools.toml\"\n").unwrap();
    let lender = place.connect(&hub, &["--config", "device.toml"]);
    let connected = hub.next().await;
    let call = json!({ "name": "hide", "arguments": {} });
    let late = connected.ask("tool.call", call).await.unwrap_err();
    assert_eq!(sleepers(&mark), Vec::<String>::new());
    assert_eq!((late.code.as_str(), late.details.get("lost")), ("timeout", None), "{late:?}");
    assert!(lender.place.path("hidden").exists(), "somebody hid");
}

/// The processes that sleep for this long.
fn sleepers(mark: &str) -> Vec<String> {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let sleeps = |pid: &String| {
        let mut line = Vec::new();
        let read =
            File::open(format!("/proc/{pid}/cmdline")).and_then(|mut file| file.read_to_end(&mut line));
        read.is_ok() && line == format!("sleep\0{mark}\0").as_bytes()
    };
    processes.filter(sleeps).collect()
}

/// Programs of the owner offer tools while the device is lent, only if that was said.
#[tokio::test(flavor = "multi_thread")]
async fn a_socket_for_tools_is_there_if_it_was_said() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start(&hub);
    hub.next().await;
    assert!(!lender.place.path("data/device/laptop/tools.sock").exists());
    let lender = Lender::start_with(&hub, &["--tool-socket"]);
    let connected = hub.next().await;
    assert_eq!(connected.hello.capabilities.tools.unwrap().tool_count, 0);
    assert_eq!(mode(&lender.place.path("data/device/laptop/tools.sock")), 0o600);
}
