//! What an operator is shown.

use protocol::relay::RawJson;
use relay::Ask;
use serde_json::json;
use testkit::{TestHub, within_blocking};

use super::{environment, lend, plug::Runtime, typed};
use crate::{TOMBOLO, secs};

/// relay-178: one command shows, in words, which device is connected as what, what it lends and which directories, how far away it is,
/// what goes on, what went wrong last, and the head of the audit.
#[tokio::test(flavor = "multi_thread")]
async fn one_command_shows_the_whole_state() {
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", "http://127.0.0.1:9", None).await;
    let _lent = lend(&hub, "allow");
    let runtime = Runtime::connect(&hub, &environment(&hub)).await;
    let ask = |method: &str, params| runtime.peer.request(Ask::new(method, RawJson::from_value(&params)));
    let missing = ask("file.read", json!({ "root_id": "main", "path": "missing" })).await;
    missing.outcome().await.unwrap_err();
    let _sleeps = ask("shell.start", json!({ "command": "sleep 1000" })).await;
    let shown = || typed(&hub, &["hub", "relay", "status"]);
    let row = || -> Vec<String> {
        let text = shown();
        let line = text.lines().find(|line| line.starts_with("laptop")).unwrap();
        line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
    };
    within_blocking(secs(20), || row()[6] == "1" && row()[5].ends_with(" µs"));
    let row = row();
    assert!(row[1].starts_with("conn_"), "{row:?}");
    assert_eq!((row[3].as_str(), row[4].as_str()), ("fileops shell tools", "main:rw"), "{row:?}");
    assert!(row[5].trim_end_matches(" µs").parse::<u64>().is_ok(), "{row:?}");
    assert_eq!(row[8], "file.read: not_found", "{row:?}");
    let (text, list) = (shown(), typed(&hub, &["audit", "verify"]));
    assert!(text.contains("\n1 requests are running\n"), "{text}");
    // `intact: entries 1 to 3, last hash <hash>…`
    let head = list.split_once("last hash ").unwrap().1.split([';', '\n']).next().unwrap();
    assert!(head.len() == 64 && text.trim_end().ends_with(head), "{text}{list}");
}
