//! A dropped network loses nothing, doubles nothing and changes no order.

use std::sync::atomic::Ordering;

use super::*;

/// How many messages go each way.
const MESSAGES: u64 = 2000;

fn numbered(number: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"n","params":{number}}}"#)
}

/// acp-16, acp-17: every connection is cut again and again, in the middle of requests, after a message was delivered
/// and before its answer came, and in the middle of the stream.
#[tokio::test]
async fn a_network_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    let daemon = TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO);
    let proxy = Proxy::start(daemon.base()).await;
    proxy.cut(true);
    let Editor { mut child, stdin, stdout, mut stderr } =
        Editor::start(&proxy.endpoint(), &["--agent", "cat"]);
    let (mut stdin, mut stdout) = (stdin.unwrap(), stdout.unwrap());
    let mut said = String::new();
    let talk = async {
        // An agent that echoes: one that was lost or doubled on either way is missing or there twice.
        let say = async {
            for number in 0..MESSAGES {
                stdin.write_all(format!("{}\n", numbered(number)).as_bytes()).await.unwrap();
            }
        };
        let hear = async {
            for number in 0..MESSAGES {
                let line = within(secs(60), stdout.next_line()).await.unwrap();
                assert_eq!(line.as_deref(), Some(numbered(number).as_str()));
            }
        };
        tokio::join!(say, hear);
        proxy.cut(false);
        drop(stdin);
        assert_eq!(within(secs(30), stdout.next_line()).await.unwrap(), None, "one too many");
        within(secs(30), child.wait()).await.unwrap()
    };
    let (status, _) = tokio::join!(talk, stderr.read_to_string(&mut said));
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(instances(&daemon).await.is_empty());
    let cuts = &proxy.cuts;
    for (what, cut) in [
        ("in a request", &cuts.in_a_request),
        ("before the answer", &cuts.before_the_answer),
        ("in an answer", &cuts.in_an_answer),
        ("in a stream", &cuts.in_a_stream),
    ] {
        let count = cut.load(Ordering::Relaxed);
        assert!(count >= 10, "only {count} cuts {what}: {cuts:?}");
    }
}

/// What is said while the network is down arrives when it is back.
#[tokio::test]
async fn a_network_that_is_back_brings_everything() {
    let daemon = TestDaemon::start(TOMBOLO);
    let proxy = Proxy::start(daemon.base()).await;
    let mut editor = Editor::start(&proxy.endpoint(), &["--agent", "mock"]);
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["id"], 1);
    editor.say(&prompt(2, "/permission\n/chunks 50")).await;
    let asked = editor.hear().await;
    proxy.open(false);
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow" } });
    editor.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome })).await;
    // It has noticed, and says so.
    let mut first = [0; 8];
    within(secs(10), editor.stderr.read_exact(&mut first)).await.unwrap();
    proxy.open(true);
    let mut texts = Vec::new();
    loop {
        let heard = editor.hear().await;
        if heard["id"] == 2 {
            break;
        }
        let update = &heard["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            texts.push(update["content"]["text"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!((texts.len(), texts[0].as_str()), (51, "permission answered: allow"));
    assert_eq!(editor.leave().await.code, Some(0));
}

/// An outage of many seconds is outlasted, by an editor that waits for a response and says nothing itself.
#[tokio::test]
async fn a_long_outage_is_outlasted() {
    let (daemon, proxy, mut editor) = in_a_turn(TestDaemonOptions::default(), &[]).await;
    proxy.open(false);
    daemon.post("/v1/acp/a", &json!({ "jsonrpc": "2.0", "method": "session/cancel" })).await;
    // More often than anybody tries who is not patient.
    refused(&proxy, 7).await;
    proxy.open(true);
    assert_eq!(editor.hear().await["result"]["stopReason"], "cancelled");
    assert_eq!(editor.leave().await.code, Some(0));
}

/// An outage that is shorter than the instance lingers costs nothing, though nobody was there for it.
#[tokio::test]
async fn an_outage_shorter_than_the_linger_loses_nothing() {
    let (daemon, proxy, mut editor) = in_a_turn(TestDaemonOptions::default(), &["--linger", "30s"]).await;
    proxy.open(false);
    let deserted = async {
        while daemon.instance("a").await["subscribers"] != 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    within(secs(10), deserted).await;
    daemon.post("/v1/acp/a", &json!({ "jsonrpc": "2.0", "method": "session/cancel" })).await;
    daemon.post("/v1/acp/a", &prompt(9, "/chunks 50")).await;
    // Long enough for an instance that lingers for a moment only.
    refused(&proxy, 3).await;
    proxy.open(true);
    assert_eq!(editor.hear().await["result"]["stopReason"], "cancelled");
    for number in 1..=50 {
        let text = format!("chunk {number} ");
        assert_eq!(editor.hear().await["params"]["update"]["content"]["text"], text.as_str());
    }
    assert_eq!(editor.hear().await["id"], 9);
    assert_eq!(editor.leave().await.code, Some(0));
    assert!(instances(&daemon).await.is_empty());
}

/// Waits until so many connections were refused.
async fn refused(proxy: &Proxy, count: u64) {
    let tried = async {
        while proxy.cuts.refused.load(Ordering::Relaxed) < count {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    within(secs(60), tried).await;
}

/// Patience has an end, with a message, an answer for the editor and a code.
#[tokio::test]
async fn patience_ends() {
    let daemon = TestDaemon::start(TOMBOLO);
    let proxy = Proxy::start(daemon.base()).await;
    let mut editor = Editor::start(&proxy.endpoint(), &["--agent", "mock", "--reconnect-timeout", "500ms"]);
    editor.say(&initialize()).await;
    editor.hear().await;
    proxy.open(false);
    editor.say(&prompt(2, "hello")).await;
    let answer = editor.hear().await;
    assert_eq!(answer["id"], 2);
    assert!(answer["error"]["message"].as_str().unwrap().contains("could not reach the server"), "{answer}");
    let ended = editor.ended().await;
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("gave up after"), "{}", ended.stderr);
    assert!(ended.stderr.contains("tombolo api acp delete editor-"), "{}", ended.stderr);
}
