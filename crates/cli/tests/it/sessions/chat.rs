//! `tombolo chat` for programs: one prompt a line, plain output.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use super::*;

/// What a conversation came to: its exit code, what it printed and what it said.
struct Talk(Option<i32>, String, String);

fn chat(endpoint: &str, arguments: &[&str], input: &str) -> Talk {
    let mut command = Command::new(TOMBOLO);
    command.arg("chat").args(arguments).env_remove("TOMBOLO_TOKEN").env("TOMBOLO_ENDPOINT", endpoint);
    // The agent works where the command runs.
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Talk(output.status.code(), text(output.stdout), text(output.stderr))
}

/// Issue 4, "`tombolo chat`": each line is a turn, standard output is what the agent says.
#[tokio::test]
async fn each_line_is_a_prompt() {
    let daemon = TestDaemon::start(TOMBOLO);
    let Talk(code, printed, said) = chat(daemon.base(), &["--agent", "mock"], "hello\n/think hm\n\nbye\n");
    assert_eq!((code, printed.as_str()), (Some(0), "hello\nbye\n"), "{said}");
    assert!(said.contains("hm") && said.contains("new session"), "{said}");
    let sessions = get(&daemon, "/v1/sessions").await;
    assert!(sessions["items"][0]["id"].as_str().unwrap().starts_with("chat-"), "{sessions}");
}

/// A turn that failed is a failure of the command; the one before it is not.
#[tokio::test]
async fn the_last_turn_decides_the_exit_code() {
    let daemon = TestDaemon::start(TOMBOLO);
    let Talk(code, _, said) = chat(daemon.base(), &["--agent", "mock"], "/fail -32000 Invalid API key\n");
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("Invalid API key") && said.contains("tombolo credentials extract"), "{said}");
    let Talk(code, printed, said) = chat(daemon.base(), &["--agent", "mock"], "/crash 3\nhello\n");
    assert_eq!((code, printed.as_str()), (Some(0), "hello\n"), "{said}");
    assert!(
        said.contains("the agent exited with code 3") && said.contains("send a message to restart it"),
        "{said}"
    );
}

/// What the agent asks is answered by the next line, and rejected when there is none.
#[tokio::test]
async fn what_is_asked_is_answered_by_the_next_line() {
    let daemon = TestDaemon::start(TOMBOLO);
    let talk = |input: &str| chat(daemon.base(), &["--agent", "mock"], input);
    let Talk(code, printed, said) = talk("/permission\no\n");
    assert_eq!((code, printed.as_str()), (Some(0), "permission answered: allow\n"), "{said}");
    assert!(said.contains("Remove everything") && said.contains("  file    build\n"), "{said}");
    assert!(said.contains("always  Always remove"), "{said}");
    assert_eq!(talk("/permission\n").1, "permission answered: reject\n");
    assert_eq!(talk("/permission\nwhat?\n").1, "permission answered: reject\nwhat?\n");
    let Talk(_, printed, said) = talk("/question\nPurple\n1,2\n");
    assert_eq!(printed, "question answered: {\"a_colour_custom\":\"Purple\",\"b_parts\":[\"d\",\"w\"]}\n");
    assert!(said.contains("1  Red  As a rose"), "{said}");
    let Talk(_, printed, said) = talk("/approve First this\napprove\n");
    assert_eq!(printed, "plan answered: approve\n");
    assert!(said.contains("First this") && said.contains("1  Approve"), "{said}");
}

/// Tools, changes and plans are told beside what is said.
#[tokio::test]
async fn what_the_agent_does_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    let Talk(_, printed, said) =
        chat(daemon.base(), &["--agent", "mock"], "/tool\n/edit\n/plan\n/garbage\ndone\n");
    assert_eq!(printed, "done\n");
    for expected in [
        "● List files\n  │ README.md\n",
        "● Edit greeting.txt\n  greeting.txt\n   Hello\n  -old friend\n  +new friend\n   bye\n",
        "plan\n  ☑ Read the code\n  ◐ Change it\n  ☐ Run the tests\n",
        "[unknown message: ",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
}

/// A conversation goes on by its name, with the last messages shown.
#[tokio::test]
async fn a_conversation_goes_on() {
    let daemon = TestDaemon::start(TOMBOLO);
    chat(daemon.base(), &["--agent", "mock", "--session", "mine"], "/remember this\n");
    let Talk(code, printed, said) = chat(daemon.base(), &["--session", "mine"], "/recall\n");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(printed, "remembered\nrecalled: this\n");
    assert!(said.contains("resumed session") && said.contains("user > /remember this"), "{said}");
    let Talk(code, _, said) = chat(daemon.base(), &["--session", "mine", "--agent", "claude"], "");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("was created with --agent `mock`"), "{said}");
}

/// What cannot be is told, with what to do.
#[tokio::test]
async fn what_cannot_be_is_told_with_what_to_do() {
    let Talk(code, _, said) = chat("http://127.0.0.1:9", &["--agent", "mock"], "");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("tombolo up"), "{said}");
    let daemon = testkit::TestDaemonOptions::default().agent("missing", &["/not/there"]).start(TOMBOLO);
    let Talk(code, _, said) = chat(daemon.base(), &["--agent", "missing"], "hello\n");
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("could not be started"), "{said}");
    assert_eq!(get(&daemon, "/v1/sessions").await["items"], json!([]));
    let Talk(code, _, said) = chat(daemon.base(), &["--agent", "nobody"], "hello\n");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("unknown-agent"), "{said}");
}

/// Issue 17: "`tombolo chat` uses the current directory when the daemon is local, accepts `-d .`".
#[tokio::test]
async fn a_chat_works_where_the_user_stands() {
    let daemon = TestDaemon::start(TOMBOLO);
    let here = tempfile::tempdir().unwrap();
    let here = here.path().canonicalize().unwrap();
    std::fs::create_dir(here.join("sub")).unwrap();
    let chat_in = |session: &str, options: &[&str]| {
        let mut command = Command::new(TOMBOLO);
        command.args(["chat", "--agent", "mock", "--session", session]).args(options).current_dir(&here);
        command.env_remove("TOMBOLO_TOKEN").env("TOMBOLO_ENDPOINT", daemon.base()).stdin(Stdio::null());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (session, options, expected) in [
        ("default", &[][..], here.clone()),
        ("here", &["-d", "."], here.clone()),
        ("below", &["--directory", "sub"], here.join("sub")),
        ("elsewhere", &["-d", "/"], "/".into()),
    ] {
        let (code, said) = chat_in(session, options);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(get(&daemon, &path(session, "")).await["directory"], expected.to_str().unwrap());
        let (code, said) = chat_in(session, options);
        assert_eq!(code, Some(0), "the same options continue it: {said}");
    }
    let (code, said) = chat_in("x", &["-d", "missing"]);
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("find the directory `missing`"), "{said}");
}
