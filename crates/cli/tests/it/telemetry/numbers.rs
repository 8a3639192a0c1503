//! `/metrics`: what was done is what is counted.

use std::collections::BTreeSet;

use super::{page::Page, *};
use crate::{
    check_problem,
    hub::{joining, somebody, until_up, up::Up, viewer::Viewer},
    problem,
};

/// What every number means, for people.
const MANUAL: &str = include_str!("../../../../../docs/metrics.md");

async fn of_daemon(daemon: &TestDaemon) -> Page {
    read(daemon.request(Method::GET, "/metrics").bearer_auth(TOKEN)).await
}

async fn of_hub(hub: &TestHub) -> Page {
    read(hub.request(Method::GET, "/metrics")).await
}

async fn read(request: reqwest::RequestBuilder) -> Page {
    let answer = request.header("accept", "application/openmetrics-text").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.headers()["content-type"],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    Page::parse(&answer.text().await.unwrap())
}

/// The names and kinds that the manual has under these headings.
fn documented(headings: &[&str]) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut inside = false;
    for line in MANUAL.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            inside = headings.contains(&heading);
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let (true, [_, name, kind, ..]) = (inside, &cells[..])
            && let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'))
        {
            assert!(found.insert((name.to_owned(), (*kind).to_owned())), "{name} twice");
        }
    }
    found
}

fn served(page: &Page) -> BTreeSet<(String, String)> {
    let name = |name: &String, kind: &String| match kind.as_str() {
        "counter" => format!("{name}_total"),
        _ => name.clone(),
    };
    page.kinds.iter().map(|(of, kind)| (name(of, kind), kind.clone())).collect()
}

/// issue 5, 8: every number is in the manual, and every number of the manual is served.
#[tokio::test]
async fn the_manual_has_every_number() {
    let (daemon, hub) = both(daemon(), TestHubOptions::default()).await;
    // What never happened has no number by a label yet.
    for base in [daemon.base(), hub.base()] {
        reqwest::get(format!("{base}/metrics")).await.unwrap();
    }
    assert_eq!(served(&of_daemon(&daemon).await), documented(&["Both", "Daemon"]));
    assert_eq!(served(&of_hub(&hub).await), documented(&["Both", "Hub"]));
}

/// issue 5, 8: only who may ask may see the numbers.
#[tokio::test]
async fn numbers_need_a_token() {
    let (daemon, hub) = both(daemon(), TestHubOptions::default()).await;
    for base in [daemon.base(), hub.base()] {
        let nobody = reqwest::get(format!("{base}/metrics")).await.unwrap();
        check_problem(&problem(nobody).await, 401, "urn:problem:unauthorized");
    }
    // What everybody does through a hub is for who manages it.
    let ana = somebody(&hub, "ana", json!({ "everywhere": "owner" })).await;
    let theirs = hub.request_as(&ana, Method::GET, "/metrics").send().await.unwrap();
    check_problem(&problem(theirs).await, 403, "urn:problem:forbidden");
    let page = of_hub(&hub).await;
    for reason in ["unauthorized", "forbidden"] {
        assert_eq!(page.get("tombolo_http_problems_total", &[("problem", reason)]), 1.0, "{reason}");
    }
}

/// issue 5, 8: daemon and hub in one process have a page each, and each counts what it answers, once.
#[tokio::test]
async fn two_in_one_process_count_apart() {
    let home = tempfile::tempdir().unwrap();
    let up = Up::start(home.path());
    let http = reqwest::Client::new();
    let daemon_token =
        std::fs::read_to_string(home.path().join(".local/share/tombolo/daemon-token")).unwrap();
    let of =
        async |base: &str, token: &str| read(http.get(format!("{base}/metrics")).bearer_auth(token)).await;
    let before = of(&up.daemon, daemon_token.trim()).await;
    let path = "/api/runtimes/local/v1/sessions/none";
    let answer = http.get(format!("{}{path}", up.hub)).bearer_auth(up.secret()).send().await.unwrap();
    assert_eq!(answer.status(), 404);
    let (daemon, hub) = (of(&up.daemon, daemon_token.trim()).await, of(&up.hub, up.secret()).await);
    let answered = |page: &Page, route: &str| {
        page.get("tombolo_http_request_duration_seconds_count", &[("route", route), ("status", "4xx")])
    };
    let (theirs, ours) = ("/v1/sessions/{id}", "/api/runtimes/{runtime_id}/v1/{*path}");
    assert_eq!((answered(&daemon, theirs), answered(&daemon, ours)), (1.0, 0.0));
    assert_eq!((answered(&hub, theirs), answered(&hub, ours)), (0.0, 1.0));
    let missing = |page: &Page| page.get("tombolo_http_problems_total", &[("problem", "session-not-found")]);
    assert_eq!((missing(&before), missing(&daemon), missing(&hub)), (0.0, 1.0, 0.0));
    assert_eq!(hub.get("tombolo_hub_runtimes", &[("kind", "local"), ("state", "up")]), 1.0);
    assert_eq!(daemon.kinds.keys().filter(|name| name.contains("_hub_")).count(), 0);
}

/// issue 5, 8: a tunnel is counted while it is there, and what comes through it is counted by the daemon.
#[tokio::test]
async fn a_tunnel_is_counted() {
    let hub = TestHub::start(TOMBOLO);
    let tunnels =
        async || of_hub(&hub).await.get("tombolo_hub_runtimes", &[("kind", "joined"), ("state", "up")]);
    let token = hub.create_join_token("far").await;
    assert_eq!(tunnels().await, 0.0);
    let daemon = joining(hub.base(), &token).start(TOMBOLO);
    until_up(&hub, "far").await;
    assert_eq!(tunnels().await, 1.0);
    let before = of_daemon(&daemon).await;
    hub.request(Method::GET, "/api/runtimes/far/workers").send().await.unwrap();
    let after = of_daemon(&daemon).await;
    let listed = [("route", "/v1/sessions"), ("method", "GET"), ("status", "2xx")];
    let name = "tombolo_http_request_duration_seconds_count";
    assert_eq!(after.get(name, &listed) - before.get(name, &listed), 1.0);
    drop(daemon);
    within(secs(20), async { while tunnels().await > 0.0 {} }).await;
}

/// issue 5, 8: a daemon counts requests, turns, events, agents and waits.
#[tokio::test]
async fn a_daemon_counts_what_it_does() {
    let daemon = daemon().start(TOMBOLO);
    let before = of_daemon(&daemon).await;
    create(&daemon, "talker").await;
    send(&daemon, "talker", "hello").await;
    let first = until(&daemon, "talker", "idle").await;
    create(&daemon, "asker").await;
    send(&daemon, "asker", "/permission").await;
    let second = until(&daemon, "asker", "waiting").await;
    create(&daemon, "crasher").await;
    send(&daemon, "crasher", "/crash 3").await;
    let third = until(&daemon, "crasher", "dormant").await;
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } });
    ask(&daemon, Method::POST, "/v1/acp/secret-name?agent=mock", Some(initialize)).await;
    daemon.request(Method::GET, "/no/such/secret").bearer_auth(TOKEN).send().await.unwrap();
    let after = of_daemon(&daemon).await;
    let grown = |name: &str, labels: &[(&str, &str)]| after.get(name, labels) - before.get(name, labels);
    assert_eq!(grown("tombolo_turn_starts_total", &[]), 3.0);
    assert_eq!(grown("tombolo_turn_ends_total", &[("reason", "completed")]), 1.0);
    assert_eq!(grown("tombolo_turn_ends_total", &[("reason", "failed")]), 1.0);
    assert_eq!(grown("tombolo_agent_starts_total", &[]), 3.0);
    assert_eq!(grown("tombolo_agent_crashes_total", &[]), 1.0);
    assert_eq!(grown("tombolo_acp_agent_starts_total", &[]), 1.0);
    assert_eq!(grown("tombolo_journal_commit_events_sum", &[]), (first + second + third) as f64);
    assert!(grown("tombolo_journal_written_bytes_total", &[]) > 100.0);
    assert!(grown("tombolo_journal_commit_duration_seconds_count", &[]) >= 3.0);
    let created = [("route", "/v1/sessions/{id}"), ("method", "POST"), ("status", "2xx")];
    assert_eq!(grown("tombolo_http_request_duration_seconds_count", &created), 3.0);
    let lost = [("route", "none"), ("method", "GET"), ("status", "4xx")];
    assert_eq!(grown("tombolo_http_request_duration_seconds_count", &lost), 1.0);
    assert_eq!(grown("tombolo_http_problems_total", &[("problem", "not-found")]), 1.0);
    let now = |name: &str, labels: &[(&str, &str)]| after.get(name, labels);
    for state in ["idle", "waiting", "dormant"] {
        assert_eq!(now("tombolo_sessions", &[("state", state)]), 1.0, "{state}");
    }
    assert_eq!(now("tombolo_waits_open", &[]), 1.0);
    assert_eq!((now("tombolo_agents_running", &[]), now("tombolo_acp_agents_running", &[])), (2.0, 1.0));
    assert!(now("tombolo_http_connections", &[]) >= 1.0 && now("process_open_fds", &[]) > 5.0);
    assert!(
        now("process_resident_memory_bytes", &[]) > 1e6 && now("process_start_time_seconds", &[]) > 1.6e9
    );
    // What people chose is nowhere: there is no end of it.
    let routes = after.values("route");
    assert!(routes.iter().all(|route| !route.contains("secret") && !route.contains("talker")), "{routes:?}");
}

/// observation-58: how much is kept of each worker, and how full that is, can be seen; also who watches, and what passes.
#[tokio::test]
async fn a_hub_counts_what_passes() {
    let (daemon, hub) = both(daemon(), TestHubOptions::default()).await;
    hub.add_runtime("down", "http://127.0.0.1:9", None).await;
    hub.request(Method::GET, "/api/runtimes/down/v1/health").send().await.unwrap();
    hub.add_runtime("unasked", "http://127.0.0.1:9", None).await;
    create(&daemon, "worker").await;
    let before = of_hub(&hub).await;
    let mut viewers = Vec::new();
    for _ in 0..2 {
        let mut viewer = Viewer::new(&hub, "worker", None).await;
        viewer.until("control").await;
        viewers.push(viewer);
    }
    send(&daemon, "worker", "/chunks 20").await;
    let mut events = 0;
    for viewer in &mut viewers {
        events = viewer.until_event("turnEnded").await.len();
    }
    let after = of_hub(&hub).await;
    let grown = |name: &str| after.get(name, &[]) - before.get(name, &[]);
    let now = |name: &str| after.get(name, &[]);
    assert_eq!(
        (now("tombolo_hub_feeds"), now("tombolo_hub_watchers"), now("tombolo_websockets")),
        (1.0, 2.0, 2.0)
    );
    assert_eq!((grown("tombolo_hub_upstream_connects_total"), now("tombolo_hub_upstreams")), (1.0, 1.0));
    assert!(grown("tombolo_hub_events_in_total") >= events as f64);
    assert!(grown("tombolo_hub_frames_out_total") >= 2.0 * events as f64);
    assert!(grown("tombolo_hub_out_bytes_total") > grown("tombolo_hub_in_bytes_total"));
    let (kept, limit) = (now("tombolo_hub_backlog_events"), now("tombolo_hub_backlog_events_limit"));
    assert!(kept >= events as f64 && kept <= limit, "{kept} of {limit}");
    assert_eq!(kept, now("tombolo_hub_backlog_events_most"));
    assert!(now("tombolo_hub_backlog_bytes") > 1000.0);
    assert!(now("tombolo_hub_backlog_most_bytes") <= now("tombolo_hub_backlog_limit_bytes"));
    for state in ["up", "down", "unknown"] {
        assert_eq!(after.get("tombolo_hub_runtimes", &[("state", state)]), 1.0, "{state}");
    }
    // When the daemon is gone, its feed is away.
    drop(daemon);
    within(secs(20), async {
        while of_hub(&hub).await.get("tombolo_hub_upstream_disconnects_total", &[]) < 1.0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
