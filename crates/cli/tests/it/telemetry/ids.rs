//! One request, one id, wherever it goes.

use super::*;
use crate::{
    hub::{joining, until_up, up::Up},
    problem,
};

/// Logs who asked for what, and how that ended.
const FILTER: &str = "server=debug";

/// What logs have of a request by this id.
fn lines<'a>(log: &'a str, id: &str) -> Vec<&'a str> {
    log.lines().filter(|line| line.contains(&format!("id=\"{id}\""))).collect()
}

/// issue 5, 8: a request through the hub has the same id in both logs, in the answer and in the problem.
#[tokio::test]
async fn a_request_has_one_id_at_every_hop() {
    let (daemon, mut hub) =
        both(daemon().env("TOMBOLO_LOG", FILTER), TestHubOptions::default().env("TOMBOLO_LOG", FILTER)).await;
    let path = "/api/runtimes/box/v1/sessions/none";
    let mut ids = Vec::new();
    for given in [Some("mine-1"), None] {
        let request = hub.request(Method::GET, path);
        let request = given.into_iter().fold(request, |request, id| request.header("request-id", id));
        let answer = request.send().await.unwrap();
        let id = answer.headers()["request-id"].to_str().unwrap().to_owned();
        assert_eq!(problem(answer).await["requestId"], *id);
        assert_eq!(given.unwrap_or(&id), id);
        ids.push(id);
    }
    // What the gate refuses has one too.
    let nobody = reqwest::get(format!("{}/api/runtimes", hub.base())).await.unwrap();
    let id = nobody.headers()["request-id"].clone();
    assert_eq!(problem(nobody).await["requestId"], id.to_str().unwrap());
    assert!(hub.terminate());
    daemon.signal("TERM");
    let (there, here) = (daemon.wait_for_exit().1, hub.log());
    for id in ids {
        assert!(lines(&here, &id).iter().any(|line| line.contains("runtime=\"box\"")), "{here}");
        let there = lines(&there, &id);
        assert!(there.iter().any(|line| line.contains("session=\"none\"")), "{there:?}");
        assert!(there.iter().any(|line| line.contains("response started")), "{there:?}");
    }
}

/// issue 5, 8: what the hub itself asks of a runtime carries the id of who made it ask, whichever way leads there.
#[tokio::test]
async fn what_the_hub_asks_has_the_id_too() {
    let (near, mut hub) =
        both(daemon().env("TOMBOLO_LOG", FILTER), TestHubOptions::default().env("TOMBOLO_LOG", FILTER)).await;
    let token = hub.create_join_token("far").await;
    let far = joining(hub.base(), &token).env("TOMBOLO_LOG", FILTER).start(TOMBOLO);
    until_up(&hub, "far").await;
    for runtime in ["box", "far"] {
        let request = hub.request(Method::GET, &format!("/api/runtimes/{runtime}/workers"));
        let answer = request.header("request-id", format!("list-{runtime}")).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    assert!(hub.terminate());
    // The span of the request at the daemon, wherever it is among others.
    let asked = |runtime: &str| {
        format!("request{{id=\"list-{runtime}\" http.request.method=GET http.route=\"/v1/sessions\"")
    };
    for (daemon, runtime) in [(near, "box"), (far, "far")] {
        daemon.signal("TERM");
        let log = daemon.wait_for_exit().1;
        assert!(log.contains(&asked(runtime)), "{log}");
    }
    let home = tempfile::tempdir().unwrap();
    let up = Up::start(home.path());
    let request = reqwest::Client::new().get(format!("{}/api/runtimes/local/workers", up.hub));
    request.bearer_auth(up.secret()).header("request-id", "list-local").send().await.unwrap();
    assert!(up.log().contains(&asked("local")), "{}", up.log());
}

/// issue 5, 8: an id that cannot be trusted in a log is replaced, and goes nowhere.
#[tokio::test]
async fn a_forged_id_is_replaced() {
    let (daemon, mut hub) =
        both(daemon().env("TOMBOLO_LOG", FILTER), TestHubOptions::default().env("TOMBOLO_LOG", FILTER)).await;
    let long = "long".repeat(33);
    for forged in [long.as_bytes(), b"two words", b"a\ttab", b"\xff\xfe", b""] {
        let value = reqwest::header::HeaderValue::from_bytes(forged).unwrap();
        let request = hub.request(Method::GET, "/api/runtimes/box/v1/health").header("request-id", value);
        let id = request.send().await.unwrap().headers()["request-id"].clone();
        let uuid: uuid::Uuid = id.to_str().unwrap().parse().unwrap();
        assert_eq!(uuid.get_version_num(), 7);
    }
    assert!(hub.terminate());
    daemon.signal("TERM");
    for log in [daemon.wait_for_exit().1, hub.log()] {
        assert!(!log.contains(&long) && !log.contains("two words") && !log.contains("tab"), "{log}");
    }
}

/// issue 5, 8: whoever is told of an error is told by which id to look for it.
#[test]
fn a_command_that_fails_tells_the_id() {
    let daemon = daemon().env("TOMBOLO_LOG", FILTER).start(TOMBOLO);
    let output = std::process::Command::new(TOMBOLO)
        .args(["api", "sessions", "get", "none", "--endpoint", daemon.base()])
        .env("TOMBOLO_TOKEN", TOKEN)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let id = said.lines().find_map(|line| line.strip_prefix("  request ")).expect("an id").to_owned();
    daemon.signal("TERM");
    let log = daemon.wait_for_exit().1;
    assert!(!lines(&log, &id).is_empty(), "{id} is not in {log}");
}
