//! MCP servers that are not what they should be.

use std::time::Duration;

use protocol::relay::RelayErrorCode;
use serde_json::json;
use testkit::within;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinSet,
};

use super::{
    mcp::lent,
    mcp_server::program,
    support::{SOON, script},
};

const T: &str = "tools = [{ name = \"t\", risk = \"low\" }]\n";

/// How much memory this process has, in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// What a hostile server does, it does to itself: the device and its other tools go on.
#[tokio::test]
async fn a_hostile_server_harms_nobody_else() {
    let modes = ["garbage", "flood", "endless", "other", "hangs", "schemas"];
    let servers: String = modes
        .iter()
        .map(|mode| {
            let tools = match *mode {
                "schemas" => "tools = [\"remote\", \"bomb\", \"large\", { name = \"t\", as = \"schemas\", risk = \"low\" }]\n".into(),
                mode => T.replace("name = \"t\"", &format!("name = \"t\", as = \"{mode}\"")),
            };
            format!("[mcp.{mode}]\ntimeout_ms = 500\n{tools}{}", program(mode))
        })
        .collect();
    let before = resident();
    let (lent, _directory) = lent(&format!("{}{servers}", script("own", "printf fine", ""))).await;
    // Those that are servers after all have their tool; what no schema can be is not lent (relay-87).
    lent.has(&["endless", "hangs", "other", "own", "schemas"]).await;
    let hangs = lent.call("hangs", json!({})).await.unwrap_err();
    assert_eq!(hangs.code, RelayErrorCode::Timeout);
    let other = lent.call("other", json!({})).await.unwrap_err();
    assert_eq!(other.code, RelayErrorCode::ProviderError);
    assert_eq!(lent.call("own", json!({})).await.unwrap()["content"], "fine");
    lent.has(&["endless", "hangs", "other", "own", "schemas"]).await;
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
    lent.end().await;
}

/// An answer that never ends is cut off, whichever way it comes.
#[tokio::test]
async fn a_body_without_end_is_not_held() {
    for kind in ["application/json", "text/event-stream"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (cut, mut was_cut) = tokio::sync::mpsc::channel(8);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut asked = [0; 4096];
                let _ = socket.read(&mut asked).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n\r\ndata: \"");
                let _ = socket.write_all(head.as_bytes()).await;
                let mut sent = 0usize;
                while socket.write_all(&[b'x'; 65536]).await.is_ok() {
                    sent += 65536;
                }
                let _ = cut.send(sent).await;
            }
        });
        let (lent, _directory) = lent(&format!("[mcp.far]\nurl = {url:?}\n{T}")).await;
        let sent = within(SOON, was_cut.recv()).await.unwrap();
        assert!(sent < 32 << 20, "{kind}: {sent} bytes were taken");
        lent.has(&[]).await;
        within(Duration::from_secs(10), lent.end()).await;
    }
}
