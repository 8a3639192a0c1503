//! `tombolo run`: one prompt, its answer, and the outcome as the exit code.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use testkit::TestDaemonOptions;

use super::*;
use crate::terminal_process::TerminalProcess;

/// How long a question is on the screen before it can be answered.
const READING_TIME: std::time::Duration = std::time::Duration::from_millis(750);

/// What a run came to.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn command(daemon: &TestDaemon, arguments: &[&str]) -> Command {
    let mut command = Command::new(TOMBOLO);
    command.args(arguments).env_remove("TOMBOLO_TOKEN").env("TOMBOLO_ENDPOINT", daemon.base());
    // The agent works where the command runs.
    command.current_dir(daemon.home());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run_with_input(daemon: &TestDaemon, arguments: &[&str], input: &str) -> Outcome {
    let mut child = command(daemon, &[&["run"], arguments].concat()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    outcome(child)
}

fn outcome(child: std::process::Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn run(daemon: &TestDaemon, arguments: &[&str]) -> Outcome {
    run_with_input(daemon, arguments, "")
}

/// The session that the command says it can be continued with.
fn session_of(outcome: &Outcome) -> &str {
    let (_, rest) = outcome.stderr.split_once("continue with `tombolo chat --session ").expect("a session");
    rest.split_once('`').unwrap().0
}

#[tokio::test]
async fn the_answer_is_printed_and_the_session_continues() {
    let daemon = TestDaemon::start(TOMBOLO);
    let first = run(&daemon, &["/remember this\n/tool\nhello there", "--agent", "mock"]);
    assert_eq!(
        (first.code, first.stdout.as_str()),
        (Some(0), "remembered\nhello there\n"),
        "{}",
        first.stderr
    );
    assert!(first.stderr.contains("● List files"), "{}", first.stderr);
    let session = session_of(&first);
    let second = run(&daemon, &["/recall", "--session", session]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(0), "recalled: this\n"), "{}", second.stderr);
}

#[tokio::test]
async fn the_prompt_comes_from_standard_input_and_the_answer_as_json() {
    let daemon = TestDaemon::start(TOMBOLO);
    for prompt in [&["-"][..], &[]] {
        let options = [prompt, &["--agent", "mock", "--output-format", "json"]].concat();
        let done = run_with_input(&daemon, &options, "/think hm\nhello");
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!((&answer["answer"], &answer["outcome"]), (&json!("hello"), &json!("completed")));
        assert_eq!(answer["sessionId"], session_of(&done));
        assert_eq!(answer["deniedPermissions"], json!([]));
    }
    let empty = run(&daemon, &["--agent", "mock"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(2), ""));
    assert!(empty.stderr.contains("the prompt is empty"), "{}", empty.stderr);
}

#[tokio::test]
async fn without_a_terminal_the_rule_decides_and_is_stated() {
    let daemon = TestDaemon::start(TOMBOLO);
    let denied = run(&daemon, &["/permission", "--agent", "mock"]);
    assert_eq!((denied.code, denied.stdout.as_str()), (Some(0), "permission answered: reject\n"));
    assert!(denied.stderr.contains("denied: there is no terminal to ask on"), "{}", denied.stderr);
    assert!(denied.stderr.contains("the rule is --allow none"), "{}", denied.stderr);
    // The mock wants to delete files.
    let edits = ["/permission", "--agent", "mock", "--allow", "edits", "--output-format", "json"];
    let edits: Value = serde_json::from_str(&run(&daemon, &edits).stdout).unwrap();
    assert_eq!(edits["answer"], "permission answered: reject");
    assert_eq!(edits["deniedPermissions"], json!(["Remove everything"]));
    let all = run(&daemon, &["/permission", "--agent", "mock", "--allow", "all"]);
    assert_eq!((all.code, all.stdout.as_str()), (Some(0), "permission answered: allow\n"));
    assert!(all.stderr.contains("allowed by --allow all"), "{}", all.stderr);
    let question = run(&daemon, &["/question", "--agent", "mock", "--allow", "all"]);
    assert_eq!((question.code, question.stdout.as_str()), (Some(0), "question answered: decline\n"));
    assert!(question.stderr.contains("not answered: there is no terminal"), "{}", question.stderr);
}

#[tokio::test]
async fn the_exit_code_is_the_outcome_of_the_turn() {
    let daemon = TestDaemon::start(TOMBOLO);
    let failed = run(&daemon, &["/fail -32000 Invalid API key", "--agent", "mock"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(8), ""), "{}", failed.stderr);
    assert!(failed.stderr.contains("Invalid API key") && failed.stderr.contains("the turn failed"));
    let running = command(&daemon, &["run", "/hang", "--agent", "mock", "--session", "s"]).spawn().unwrap();
    turn_started(&daemon, "s", 1).await;
    assert_eq!(daemon.post_text(&path("s", "/cancel"), "").await.status(), 204);
    assert_eq!(outcome(running).code, Some(9));
    let running = command(&daemon, &["run", "/hang", "--session", "s"]).spawn().unwrap();
    turn_started(&daemon, "s", 2).await;
    let stop = Command::new("kill").arg(running.id().to_string()).status().unwrap();
    assert!(stop.success());
    assert_eq!(outcome(running).code, Some(9));
    // The turn was interrupted as well.
    let events = Followed::new(&daemon, "s", 0).await.until_count("turnEnded", 2).await;
    assert_eq!(ended(&events), "interrupted");
    let gone = run(&daemon, &["hello", "--agent", "nobody"]);
    assert_eq!((gone.code, gone.stdout.as_str()), (Some(1), ""), "{}", gone.stderr);
}

/// Waits until the session exists and has started this many turns.
async fn turn_started(daemon: &TestDaemon, id: &str, turns: usize) {
    let exists = async {
        while daemon.get(&path(id, "")).await.status() != 200 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    within(secs(30), exists).await;
    Followed::new(daemon, id, 0).await.until_count("turnStarted", turns).await;
}

/// A wait of an earlier turn in the same session is neither answered nor shown, and the output of that turn is not printed.
#[tokio::test]
async fn another_turn_of_the_session_is_left_alone() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/permission\nof the first turn").await;
    let wait = followed.next_of("permissionAsked").await["id"].as_str().unwrap().to_owned();
    let running = command(&daemon, &["run", "mine", "--session", "s", "--allow", "all"]).spawn().unwrap();
    // Its prompt waits for the first turn.
    let queued = async { while followed.next_of("input").await["message"] != "mine" {} };
    within(secs(30), queued).await;
    assert_eq!(get(&daemon, "/v1/waits").await["items"][0]["id"], wait.as_str());
    assert_eq!(answer(&daemon, "s", &wait, "permission", &json!({ "reply": "reject" })).await.status(), 204);
    let done = outcome(running);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "mine\n"), "{}", done.stderr);
    assert!(!done.stderr.contains("Remove everything"), "{}", done.stderr);
}

#[tokio::test]
async fn the_only_usable_agent_is_the_default() {
    let none = run(&TestDaemon::start(TOMBOLO), &["hello"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(2), ""));
    assert!(none.stderr.contains("--agent mock needs neither"), "{}", none.stderr);
    let own = [TOMBOLO, "mock-agent"];
    let daemon = TestDaemonOptions::default().agent("own", &own).start(TOMBOLO);
    let done = run(&daemon, &["hello"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "hello\n"), "{}", done.stderr);
    let daemon = TestDaemonOptions::default().agent("own", &own).agent("second", &own).start(TOMBOLO);
    let several = run(&daemon, &["hello"]);
    assert_eq!((several.code, several.stdout.as_str()), (Some(2), ""));
    assert!(several.stderr.contains("several agents can be used (own, second)"), "{}", several.stderr);
}

/// On a terminal the user is asked, with the guards of `tombolo chat`.
#[tokio::test]
async fn on_a_terminal_the_user_is_asked() {
    let arguments = ["run", "/permission\n/permission", "--agent", "mock"];
    let mut screen = TerminalProcess::start(TestDaemon::start(TOMBOLO), &arguments).await;
    screen.sees("allow [o]nce, allow [a]lways, [d]eny > ").await;
    // At once: nobody has read the request.
    screen.type_text("o\r").await;
    screen.sees("typed before the question was on the screen").await;
    screen.sees("allow [o]nce, allow [a]lways, [d]eny > ").await;
    tokio::time::sleep(READING_TIME).await;
    screen.type_text("what?\r").await;
    screen.sees("type o to allow once").await;
    screen.type_text("o\r").await;
    screen.sees("permission answered: allow").await;
    screen.sees("allow [o]nce, allow [a]lways, [d]eny > ").await;
    // The end of the input is no permission.
    screen.type_text("\x04").await;
    screen.sees("permission answered: reject").await;
    screen.sees("tombolo chat --session run-").await;
    assert_eq!(screen.exit_code().await, 0);
}

#[tokio::test]
async fn on_a_terminal_an_interrupt_ends_the_turn() {
    let arguments = ["run", "/hang", "--agent", "mock", "--session", "s"];
    let mut screen = TerminalProcess::start(TestDaemon::start(TOMBOLO), &arguments).await;
    screen.sees("new session s").await;
    turn_started(&screen.daemon, "s", 1).await;
    screen.type_text("\x03").await;
    screen.sees("the turn was interrupted").await;
    assert_eq!(screen.exit_code().await, 9);
}
