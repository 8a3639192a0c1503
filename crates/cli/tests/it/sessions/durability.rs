//! sessions-13: what was seen is there after the daemon was killed.

use super::*;
use crate::{check_problem, problem};

/// sessions-13: "`kill -9` of the daemon at any moment: after restart every event any client saw is there, in order, the
/// session list is there, running turns are marked interrupted, the next message resumes the agent's own session … with
/// its memory intact".
#[tokio::test]
async fn nothing_that_was_seen_is_lost() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    turn(&daemon, "s", "/remember the blue one").await;
    for seen_before in [3, 40] {
        let newest = get(&daemon, &path("s", "")).await["newestSeq"].as_u64().unwrap();
        let mut followed = Followed::new(&daemon, "s", newest).await;
        send(&daemon, "s", "/drip 2000 1").await;
        let mut seen = followed.until("turnStarted").await;
        for _ in 0..seen_before {
            seen.push(followed.next().await.unwrap());
        }
        daemon.kill_and_restart();
        let list = get(&daemon, "/v1/sessions").await;
        assert_eq!(list["items"][0]["id"], "s");
        let mut followed = Followed::new(&daemon, "s", newest).await;
        let after = followed.until("turnEnded").await;
        assert_eq!(after[..seen.len()], seen);
        assert_eq!(ended(&after), "interrupted");
        assert!(
            after
                .windows(2)
                .all(|pair| pair[1]["seq"].as_u64() == pair[0]["seq"].as_u64().map(|seq| seq + 1))
        );
        let records = turn(&daemon, "s", "/recall").await;
        assert_eq!((said(&records).as_str(), ended(&records)), ("recalled: the blue one", "completed"));
        assert_eq!(of(&records, "started")[0]["resumed"], true);
    }
}

/// sessions-3, sessions-13: what waits for its turn survives, and has its turn without anybody asking.
#[tokio::test]
async fn what_waited_is_delivered_after_a_restart() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/hang").await;
    followed.until("turnStarted").await;
    let queued = send(&daemon, "s", "after the storm").await;
    daemon.kill_and_restart();
    // The first who asks is told so.
    let session = get(&daemon, &path("s", "")).await;
    assert!(session["queuedInputs"] == 1 || session["turnId"] == queued["turnId"], "{session}");
    let mut followed = Followed::new(&daemon, "s", 0).await;
    let mut records = followed.until("turnEnded").await;
    records.extend(followed.until("turnEnded").await);
    assert_eq!((said(&records).as_str(), ended(&records)), ("after the storm", "completed"));
    assert_eq!(of(&records, "turnEnded")[0]["reason"], "interrupted");
    assert_eq!(of(&records, "turnEnded")[1]["turnId"], queued["turnId"]);
}

/// sessions-13: a wait whose agent is gone is withdrawn, and whoever answers late is told so.
#[tokio::test]
async fn a_wait_of_a_dead_agent_is_withdrawn() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/permission").await;
    let permission = followed.next_of("permissionAsked").await;
    daemon.kill_and_restart();
    let (wait, once) = (permission["id"].as_str().unwrap(), json!({ "reply": "once" }));
    let late = problem(answer(&daemon, "s", wait, "permission", &once).await).await;
    check_problem(&late, 409, "urn:problem:wait-settled");
    assert!(late["detail"].as_str().unwrap().contains("withdrawn"), "{late}");
    assert_eq!(get(&daemon, "/v1/waits").await["items"], json!([]));
}

/// sessions-13: an ordinary end of the daemon ends the streams at once, also of sessions that nobody used since it
/// started, and keeps everything.
#[tokio::test]
async fn an_ordinary_end_keeps_everything() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    turn(&daemon, "s", "hello").await;
    daemon.kill_and_restart();
    let before = all(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", before.len() as u64).await;
    daemon.signal("TERM");
    let asked = std::time::Instant::now();
    assert_eq!(followed.next().await, None);
    assert_eq!(daemon.wait_for_exit().0, Some(0));
    assert!(asked.elapsed() < secs(2), "it waited for {:?}", asked.elapsed());
}

/// The agent of a session that has nothing to do is ended, and the next message goes on with it.
#[tokio::test]
async fn an_idle_agent_rests_and_remembers() {
    let daemon = testkit::TestDaemonOptions::default().arg("--session-idle").arg("100ms").start(TOMBOLO);
    create(&daemon, "s").await;
    let told = turn(&daemon, "s", "/remember the red one").await;
    let mut followed = Followed::new(&daemon, "s", told.last().unwrap()["seq"].as_u64().unwrap()).await;
    while followed.next_of("status").await["state"] != "dormant" {}
    let records = turn(&daemon, "s", "/recall").await;
    assert_eq!(said(&records), "recalled: the red one");
    assert_eq!(of(&records, "started")[0]["resumed"], true);
}
