//! `/metrics`, as the tool of Prometheus reads it.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use super::*;
use crate::hub::viewer::Viewer;

/// The text format 0.0.4 of a server.
async fn text(request: reqwest::RequestBuilder) -> String {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(answer.headers()["vary"], "accept");
    answer.text().await.unwrap()
}

/// Fails if `promtool check metrics` finds anything wrong with a page, or its style.
fn check(page: &str) {
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool is needed (Debian: prometheus)");
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success() && said.is_empty(), "{said}\n{page}");
}

/// issue 17, 3: promtool finds nothing wrong with the metrics of a daemon and a hub that have worked.
#[tokio::test]
async fn promtool_finds_nothing() {
    let (daemon, hub) = both(daemon(), TestHubOptions::default()).await;
    create(&daemon, "talker").await;
    let mut viewer = Viewer::new(&hub, "talker", None).await;
    viewer.until("control").await;
    send(&daemon, "talker", "hello").await;
    viewer.until_event("turnEnded").await;
    hub.request(Method::GET, "/api/runtimes/box/v1/sessions/none").send().await.unwrap();
    let pages = [
        text(daemon.request(Method::GET, "/metrics").bearer_auth(TOKEN)).await,
        text(hub.request(Method::GET, "/metrics")).await,
    ];
    for (page, sample) in pages.iter().zip(["tombolo_turn_ends_total{", "tombolo_hub_events_in_total "]) {
        assert!(page.lines().any(|line| line.starts_with(sample)), "{sample}: {page}");
        check(page);
    }
}
