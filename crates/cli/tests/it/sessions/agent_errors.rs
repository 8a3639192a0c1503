//! sessions-7: errors that only an agent which misbehaves, or a disk, provokes.

use testkit::TestDaemonOptions;

use super::*;

/// sessions-7: an agent that cannot resume its conversation starts a new one, and the session says so.
#[tokio::test]
async fn an_agent_that_cannot_resume_says_so() {
    let program = ["python3", "-c", include_str!("forgetful_agent.py")];
    let daemon = TestDaemonOptions::default().agent("forgetful", &program).start(TOMBOLO);
    assert_eq!(create_with(&daemon, "s", &json!({ "agent": "forgetful" })).await["healthy"], true);
    assert_eq!(ended(&turn(&daemon, "s", "die").await), "failed");
    let records = turn(&daemon, "s", "hello").await;
    let message = &of(&records, "error")[0]["resumeFailed"]["message"];
    assert!(message.as_str().is_some_and(|message| message.contains("earlier conversation")), "{records:?}");
    assert_eq!((said(&records).as_str(), ended(&records)), ("hello", "completed"));
}

/// sessions-7: an agent that answers in its protocol's place with an error violates the protocol: the session is not healthy, and
/// says what the agent said.
#[tokio::test]
async fn an_agent_that_breaks_its_protocol_is_named() {
    let program = "read line; echo '{\"id\":1,\"error\":{\"code\":-32600,\"message\":\"I speak another dialect\"}}'; cat > /dev/null";
    let options = TestDaemonOptions::default().agent("foreign", &["sh", "-c", program]);
    let daemon = options.config("protocol = \"codex\"\n").start(TOMBOLO);
    let created = create_with(&daemon, "s", &json!({ "agent": "foreign" })).await;
    assert_eq!(created["healthy"], false, "{created}");
    assert_eq!(created["error"]["protocolError"]["message"], "I speak another dialect", "{created}");
}

/// sessions-7, sessions-14: while the store refuses writes, the session says so; with the store back the turn goes on, and what the
/// agent said before is not lost.
#[tokio::test]
async fn a_store_that_refuses_writes_is_a_storage_error() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/drip 20000 1").await;
    followed.until("messageDelta").await;
    let database = daemon.home().join(".local/share/tombolo/sessions/sessions.db");
    let mut database = rusqlite::Connection::open(database).unwrap();
    let lock = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let told = async {
        while get(&daemon, &path("s", "")).await["error"].get("storageError").is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    within(secs(60), told).await;
    lock.rollback().unwrap();
    let records = within(secs(60), followed.until("turnEnded")).await;
    assert!(
        of(&records, "error").iter().any(|error| error.get("storageError").is_some()),
        "{:?}",
        of(&records, "error")
    );
    for pair in records.windows(2) {
        assert_eq!(pair[0]["seq"].as_u64().unwrap() + 1, pair[1]["seq"].as_u64().unwrap());
    }
    assert_eq!(ended(&turn(&daemon, "s", "hello").await), "completed");
}
