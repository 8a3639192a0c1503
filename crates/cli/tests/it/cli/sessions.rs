//! daemon-3, sessions-1 to sessions-6: sessions from the command line.

use serde_json::Value;

use super::*;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A whole conversation in commands: tables for people, the wire body for programs.
#[test]
fn a_session_is_held_in_commands() {
    let daemon = TestDaemon::start(TOMBOLO);
    let created = api(&daemon, &["sessions", "create", "s", "--agent", "mock", "--title", "a test"]).ok();
    assert!(created.starts_with("healthy        yes\n"), "{created}");
    let sent = json(&api(&daemon, &["sessions", "send", "s", "hello\n/permission", "--json"]).ok());
    // It ends with the session, however that is brought about.
    let mut follow = api_at(daemon.base(), &["sessions", "events", "s", "--follow", "--json"]);
    let follow = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let wait = wait(&daemon);
    let listed = api(&daemon, &["waits", "list"]).ok();
    assert!(
        listed.contains(&wait) && listed.contains("allow once, allow always (Always remove), deny"),
        "{listed}"
    );
    let told = api(&daemon, &["sessions", "permit", "s", &wait, "allow", "once", "--author", "ada"]).said(0);
    assert_eq!(told, format!("answered {wait}\n"));
    let late = api(&daemon, &["sessions", "permit", "s", &wait, "reject"]).said(1);
    assert!(late.contains("already answered by ada") && late.contains("urn:problem:wait-settled"), "{late}");
    settled(&daemon);
    let messages = api(&daemon, &["sessions", "messages", "s"]).ok();
    let headings = messages.lines().filter(|line| !line.starts_with(' '));
    for (heading, role) in headings.zip(["user", "assistant"]) {
        let (speaker, time) = heading.strip_suffix(':').and_then(|heading| heading.split_once(", ")).unwrap();
        assert_eq!(speaker, role);
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{heading}");
    }
    assert!(messages.contains(":\n  hello\n  /permission\nassistant, "), "{messages}");
    assert!(messages.ends_with("permission answered: allow\n"), "{messages}");
    let events = api(&daemon, &["sessions", "events", "s", "--limit", "2"]).ok();
    assert_eq!(events.lines().count(), 2, "{events}");
    let shown = api(&daemon, &["sessions", "snapshot", "s"]).ok();
    assert!(shown.contains("title          a test") && shown.contains("permission answered"), "{shown}");
    assert_eq!(api(&daemon, &["sessions", "inputs", "s"]).ok().lines().count(), 1);
    assert!(api(&daemon, &["sessions", "list"]).ok().contains("a test"));
    api(&daemon, &["sessions", "cancel", "s"]).said(0);
    api(&daemon, &["sessions", "delete", "s"]).said(0);
    let followed = Run::of(follow.wait_with_output().unwrap()).ok();
    let records: Vec<Value> = followed.lines().map(json).collect();
    assert!(records.iter().any(|record| record["event"]["turnStarted"]["turnId"] == sent["turnId"]));
    assert!(records.last().unwrap()["event"]["ended"].is_object(), "{followed}");
}

/// The permission that waits.
fn wait(daemon: &TestDaemon) -> String {
    let mut id = None;
    testkit::within_blocking(crate::secs(20), || {
        let waits = json(&api(daemon, &["waits", "list", "--json"]).ok());
        id = waits["items"][0]["id"].as_str().map(str::to_owned);
        id.is_some()
    });
    id.unwrap()
}

fn settled(daemon: &TestDaemon) {
    testkit::within_blocking(crate::secs(20), || {
        json(&api(daemon, &["sessions", "get", "s", "--json"]).ok())["state"] == "idle"
    });
}

/// A question with several parts, and what makes no sense.
#[test]
fn answers_are_given_in_words_or_as_json() {
    let daemon = TestDaemon::start(TOMBOLO);
    api(&daemon, &["sessions", "create", "s", "--agent", "mock"]).ok();
    for answers in
        [&["--answer", "Red", "--answer", "Door,Wall"][..], &["--answers", r#"[["Red"],["Door","Wall"]]"#]]
    {
        api(&daemon, &["sessions", "send", "s", "/question"]).ok();
        let wait = wait(&daemon);
        let words = [&["sessions", "answer", "s", wait.as_str()], answers].concat();
        api(&daemon, &words).said(0);
        settled(&daemon);
    }
    let messages = api(&daemon, &["sessions", "messages", "s"]).ok();
    let answered = r#"question answered: {"a_colour":"r","b_parts":["d","w"]}"#;
    assert_eq!(messages.matches(answered).count(), 2, "{messages}");
    api(&daemon, &["sessions", "send", "s", "x", "--when-busy", "maybe"]).said(2);
    api(&daemon, &["sessions", "create", "t", "--agent", "mock", "--permission-mode", "all"]).said(2);
    api(&daemon, &["sessions", "create", "t", "--agent", "mock", "--mcp", "{"]).said(2);
    api(&daemon, &["sessions", "send", "s", "x", "--image", "picture.bmp"]).said(2);
}

/// Issue 17: "`tombolo api sessions send --wait` prints the answer".
#[test]
fn a_message_that_waits_prints_its_answer() {
    let daemon = TestDaemon::start(TOMBOLO);
    api(&daemon, &["sessions", "create", "s", "--agent", "mock"]).ok();
    assert_eq!(api(&daemon, &["sessions", "send", "s", "--wait", "/think hm\nhello"]).ok(), "hello\n");
    let message = json(&api(&daemon, &["sessions", "send", "s", "--wait", "--json", "bye"]).ok());
    assert_eq!((&message["role"], &message["parts"][0]["text"]), (&"assistant".into(), &"bye".into()));
    // The turn of a message that was sent before may be over.
    for _ in 0..2 {
        let keyed = ["sessions", "send", "s", "--wait", "--idempotency-key", "k", "once"];
        assert_eq!(api(&daemon, &keyed).ok(), "once\n");
    }
    let failed = api(&daemon, &["sessions", "send", "s", "--wait", "/fail -32000 Invalid API key"]).said(8);
    assert!(failed.contains("Invalid API key"), "{failed}");
    // What the agent asks is reported, because the turn waits for it.
    let mut asking = api_at(daemon.base(), &["sessions", "send", "s", "--wait", "/permission"]);
    let asking = asking.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let wait = wait(&daemon);
    api(&daemon, &["sessions", "permit", "s", &wait, "once"]).said(0);
    let answered = Run::of(asking.wait_with_output().unwrap());
    assert_eq!((answered.code, answered.stdout.as_str()), (Some(0), "permission answered: allow\n"));
    assert!(answered.stderr.contains(&format!("tombolo waits answer {wait}")), "{}", answered.stderr);
}

/// Issue 17: "`sessions list --since --agent --directory --state`", "titles from the first message", and a clean stop leaves the
/// order as it was.
#[test]
fn sessions_are_found_by_what_is_known_of_them() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = testkit::TestDaemonOptions::default().port(port);
    let mut daemon = options.agent("other", &[crate::TOMBOLO, "mock-agent"]).start(crate::TOMBOLO);
    let home = daemon.home();
    let home = home.to_str().unwrap();
    api(&daemon, &["sessions", "create", "a", "--agent", "mock", "-d", "/"]).ok();
    api(&daemon, &["sessions", "create", "b", "--agent", "other", "--title", "given"]).ok();
    api(&daemon, &["sessions", "create", "c", "--agent", "mock"]).ok();
    for id in ["c", "b", "a"] {
        api(&daemon, &["sessions", "send", id, "--wait", "hello there\n/tool"]).ok();
    }
    let ids = |daemon: &TestDaemon, options: &[&str]| -> Vec<String> {
        let list = json(&api(daemon, &[&["sessions", "list", "--json"], options].concat()).ok());
        let items = list["items"].as_array().unwrap();
        items.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&daemon, &[]), ["a", "b", "c"]);
    assert_eq!(ids(&daemon, &["--agent", "mock"]), ["a", "c"]);
    assert_eq!(ids(&daemon, &["--directory", home]), ["b", "c"]);
    assert_eq!(ids(&daemon, &["--directory", home, "--agent", "mock", "--state", "idle"]), ["c"]);
    assert_eq!(ids(&daemon, &["--state", "running"]), [""; 0]);
    assert_eq!(ids(&daemon, &["--since", "1h"]), ["a", "b", "c"]);
    assert_eq!(ids(&daemon, &["--since", "2100-01-01T00:00:00Z"]), [""; 0]);
    let wrong = api(&daemon, &["sessions", "list", "--since", "yesterday"]).said(2);
    assert!(wrong.contains("such as 24h or 7d"), "{wrong}");
    let all = |daemon: &TestDaemon| json(&api(daemon, &["sessions", "list", "--json"]).ok())["items"].clone();
    let before = all(&daemon);
    assert_eq!((&before[0]["title"], &before[1]["title"]), (&"hello there".into(), &"given".into()));
    // A clean stop changes no `updatedAt`.
    daemon.signal("TERM");
    // One that has ended and was not waited for has no command line.
    let command_line = format!("/proc/{}/cmdline", daemon.pid());
    testkit::within_blocking(crate::secs(20), || {
        std::fs::read(&command_line).is_ok_and(|line| line.is_empty())
    });
    daemon.kill_and_restart();
    let after = all(&daemon);
    for (before, after) in before.as_array().unwrap().iter().zip(after.as_array().unwrap()) {
        assert_eq!((&before["id"], &before["updatedAt"]), (&after["id"], &after["updatedAt"]));
    }
    assert_eq!(after[0]["title"], "hello there");
}

/// Issue 17: "`sessions export --markdown|--jsonl`".
#[test]
fn a_session_is_exported_with_its_times() {
    let daemon = TestDaemon::start(crate::TOMBOLO);
    api(&daemon, &["sessions", "create", "s", "--agent", "mock"]).ok();
    api(&daemon, &["sessions", "send", "s", "--wait", "hello\n/think hm\n/tool"]).ok();
    let document = api(&daemon, &["sessions", "export", "s"]).ok();
    assert!(document.starts_with("# hello\n\nSession `s` with mock in `"), "{document}");
    for part in ["## user, 20", "## mock, 20", "\n> hm\n", "**List files**", "```\nREADME.md\n```"] {
        assert!(document.contains(part), "`{part}`: {document}");
    }
    let lines: Vec<Value> =
        api(&daemon, &["sessions", "export", "s", "--jsonl"]).ok().lines().map(json).collect();
    assert_eq!(
        (&lines[0]["role"], &lines[0]["parts"][0]["text"]),
        (&"user".into(), &"hello\n/think hm\n/tool".into())
    );
    assert!(lines.iter().all(|line| line["createdAt"].is_string()), "{lines:#?}");
}

/// Issue 17: "`sessions search`".
#[test]
fn sessions_are_found_by_what_was_said() {
    let daemon = TestDaemon::start(crate::TOMBOLO);
    api(&daemon, &["sessions", "create", "s", "--agent", "mock", "--title", "given"]).ok();
    api(&daemon, &["sessions", "send", "s", "--wait", "a needle\u{1b}[2J"]).ok();
    let found = api(&daemon, &["sessions", "search", "NEEDLE"]).ok();
    assert!(found.starts_with("SESSION  CREATED "), "{found}");
    assert_eq!(found.matches("a needle<U+001B>[2J").count(), 2, "{found}");
    let page = json(&api(&daemon, &["sessions", "search", "needle", "--limit", "1", "--json"]).ok());
    assert_eq!(page["items"][0]["role"], "user");
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = json(&api(&daemon, &["sessions", "search", "needle", "--cursor", cursor, "--json"]).ok());
    assert_eq!((&rest["items"][0]["role"], &rest["nextCursor"]), (&"assistant".into(), &Value::Null));
    let limited = api(&daemon, &["sessions", "search", "needle", "--limit", "1"]);
    assert!(limited.stderr.contains(&format!("--cursor {cursor}")), "{}", limited.stderr);
    let none = api(&daemon, &["sessions", "search", "nothing like it"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
}

/// Issue 17: "a session that never became healthy is replaced by the next create with other options, and `sessions create` exits
/// non-zero".
#[test]
fn a_session_whose_agent_cannot_start_is_corrected_by_creating_it_again() {
    let daemon =
        testkit::TestDaemonOptions::default().agent("missing", &["/not/there"]).start(crate::TOMBOLO);
    let failed = api(&daemon, &["sessions", "create", "s", "--agent", "missing"]);
    assert_eq!(failed.code, Some(6), "{}", failed.stderr);
    assert!(
        failed.stdout.contains("healthy        no") && failed.stderr.contains("create the session again")
    );
    api(&daemon, &["sessions", "create", "s", "--agent", "mock"]).ok();
    assert_eq!(api(&daemon, &["sessions", "send", "s", "--wait", "hello"]).ok(), "hello\n");
    // Now there is something to keep.
    let other = api(&daemon, &["sessions", "create", "s", "--agent", "missing"]).said(1);
    assert!(other.contains("session-conflict"), "{other}");
    // An invalid correction leaves the failed session as it is.
    api(&daemon, &["sessions", "create", "t", "--agent", "missing", "--json"]);
    let unknown = api(&daemon, &["sessions", "create", "t", "--agent", "nobody"]).said(1);
    assert!(unknown.contains("unknown-agent"), "{unknown}");
    assert_eq!(json(&api(&daemon, &["sessions", "get", "t", "--json"]).ok())["agent"], "missing");
}
