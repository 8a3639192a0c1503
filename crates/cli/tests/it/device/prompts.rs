//! What the owner is asked in the terminal that a device runs in.

use serde_json::json;
use testkit::within;

use super::{
    terminal::{ONCE, Terminal},
    *,
};

fn write(path: &str) -> Value {
    json!({ "root_id": "main", "path": path, "content": "hello\u{1b}[2J", "encoding": "utf-8" })
}

/// relay-144, relay-175: what, where and how far; yes is for once, no is no, and nothing else is an answer.
#[tokio::test(flavor = "multi_thread")]
async fn the_owner_is_asked_in_the_terminal() {
    let mut hub = StandIn::start().await;
    let (mut terminal, connected) = Terminal::open(&mut hub, &["--ask", "writes=always_ask"]).await;
    let asked = async {
        terminal.screen.sees("? session s-1 wants to write a file, replacing it if it exists").await;
        // What somebody else says cannot command the terminal.
        terminal.screen.sees("  what  | hello<U+001B>[2J").await;
        terminal.screen.sees("  where | main:a.txt").await;
        terminal.screen.sees("  size  | 9 bytes, sent as utf-8").await;
        terminal.screen.sees(ONCE).await;
        assert!(!terminal.written("a.txt"));
        for unclear in ["perhaps", "a"] {
            terminal.screen.type_line(unclear).await;
            terminal.screen.sees("type o to allow once, or d to deny").await;
            terminal.screen.sees(ONCE).await;
        }
        terminal.screen.type_line("y").await;
        terminal.screen.sees("allowed once").await;
    };
    let (written, ()) = tokio::join!(connected.ask("file.write", write("a.txt")), asked);
    written.unwrap();
    assert!(terminal.written("a.txt"));
    let (written, ()) =
        tokio::join!(connected.ask("file.write", write("b.txt")), terminal.answers(ONCE, "n"));
    assert_eq!(written.unwrap_err().code.as_str(), "policy_blocked");
    assert!(!terminal.written("b.txt"));
    let audit = std::fs::read_to_string(terminal.place.path("data/device/laptop/audit/audit.jsonl")).unwrap();
    assert!(audit.contains("\"approved\"") && audit.contains("\"policy_blocked\""), "{audit}");
}

/// What is no longer wanted is not asked any more. What was typed for it is no answer to what is asked next, which the
/// owner has not seen when they typed it (relay-143).
#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_for_one_question_is_no_answer_to_the_next() {
    let mut hub = StandIn::start().await;
    let (mut terminal, connected) = Terminal::open(&mut hub, &["--ask", "writes=always_ask"]).await;
    let ask = relay::Ask::new("file.write", protocol::relay::RawJson::from_value(&write("a.txt")));
    let call = connected.peer.request(ask).await;
    terminal.screen.sees(ONCE).await;
    terminal.screen.type_text("y").await;
    terminal.screen.sees("y").await;
    drop(call);
    terminal.screen.sees("the request was cancelled").await;
    let asked = async {
        terminal.screen.sees("  where | main:b.txt").await;
        terminal.screen.sees(ONCE).await;
        terminal.screen.type_text("\r").await;
        terminal.screen.sees("type o to allow once, or d to deny").await;
        assert!(!terminal.written("b.txt"));
        terminal.answers(ONCE, "y").await;
    };
    let (written, ()) = tokio::join!(connected.ask("file.write", write("b.txt")), asked);
    written.unwrap();
    assert!(!terminal.written("a.txt") && terminal.written("b.txt"));
}

/// relay-143: "an approval applies to the exact arguments shown": all of a command is shown, or nobody is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_shown_as_it_is_run() {
    let mut hub = StandIn::start().await;
    let more = ["--shell", "--shell-env", "KEY", "--ask", "commands=always_ask"];
    let (mut terminal, connected) = Terminal::open(&mut hub, &more).await;
    let start = |command: &str| json!({ "command": command, "env": { "KEY": "va\nlue" } });
    let asked = async {
        terminal.screen.sees("? session s-1 wants to run a command of 2 lines").await;
        terminal.screen.sees("  what  | printf 'a\\n<U+202E>'; touch one.txt\r\n").await;
        terminal.screen.sees("        | touch two.txt\r\n").await;
        terminal.screen.sees("  where | /workspace/main\r\n").await;
        terminal.screen.sees("  env   | KEY=va<U+000A>lue\r\n").await;
        terminal.screen.sees("  later | input to the running command is allowed").await;
        terminal.answers(ONCE, "y").await;
    };
    let command = "printf 'a\\n\u{202e}'; touch one.txt\ntouch two.txt";
    let (ended, ()) = tokio::join!(connected.ask("shell.start", start(command)), asked);
    assert_eq!(ended.unwrap()["exit_code"], 0);
    assert!(terminal.written("one.txt") && terminal.written("two.txt"));
    // Spelled out, each of these characters is eight.
    let endless = format!("touch four.txt {}", "\u{200b}".repeat(150_000));
    let refused = connected.ask("shell.start", start(&endless)).await.unwrap_err();
    assert_eq!(
        (refused.code.as_str(), &refused.details["reason"]),
        ("approval_required", &json!("too_long_to_show"))
    );
    assert!(!terminal.written("four.txt"));
}

/// relay-143: a request that does not fit the screen is cut, says by how much, and is allowed only after all of it was shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_command_is_allowed_only_after_all_of_it_was_shown() {
    let mut hub = StandIn::start().await;
    let more = ["--shell", "--ask", "commands=always_ask"];
    let (mut terminal, connected) = Terminal::open(&mut hub, &more).await;
    let command = format!("true {}\ntouch HIDDEN-PART", "x".repeat(5000));
    let asked = async {
        terminal.screen.sees("more characters").await;
        terminal.answers("[s]how all, [d]eny > ", "y").await;
        terminal.screen.sees("part of the request is not shown yet").await;
        terminal.screen.sees("[s]how all, [d]eny > ").await;
        terminal.screen.type_line("s").await;
        // Typed ahead of the part that appears now.
        terminal.screen.type_line("y").await;
        terminal.screen.sees("        | touch HIDDEN-PART\r\n").await;
        terminal.screen.sees(ONCE).await;
        assert!(!terminal.written("HIDDEN-PART"));
        terminal.screen.type_line("y").await;
        terminal.screen.sees("allowed once").await;
    };
    let (ended, ()) = tokio::join!(connected.ask("shell.start", json!({ "command": command })), asked);
    assert_eq!(ended.unwrap()["exit_code"], 0);
    assert!(terminal.written("HIDDEN-PART"));
}

/// The owner speaks to the device where it runs, and sees who uses it.
#[tokio::test(flavor = "multi_thread")]
async fn the_owner_speaks_to_it_in_the_terminal() {
    let mut hub = StandIn::start().await;
    let (mut terminal, mut connected) = Terminal::open(&mut hub, &[]).await;
    connected.ask("file.write", write("a.txt")).await.unwrap();
    terminal.screen.sees("session s-1 uses this device").await;
    terminal.screen.type_line("pause lunch").await;
    terminal.screen.sees("paused (lunch)").await;
    terminal.screen.sees("● laptop connected, paused").await;
    assert_eq!(connected.event("provider.paused").await, json!({ "reason": "lunch" }));
    terminal.screen.type_line("dance").await;
    terminal.screen.sees("type status, pause, resume, forget or stop").await;
    terminal.screen.type_line("resume").await;
    terminal.screen.sees("resumed").await;
    terminal.screen.type_line("stop").await;
    within(secs(5), connected.lost()).await;
    assert_eq!(terminal.screen.exit_code().await, 0);
}

/// relay-142: where nobody can be asked, nobody has agreed.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_terminal_nobody_agrees() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start_with(&hub, &["--ask", "writes=ask_once"]);
    let connected = hub.next().await;
    lender.said("connected to");
    let refused = connected.ask("file.write", write("a.txt")).await.unwrap_err();
    assert_eq!((refused.code.as_str(), &refused.details["reason"]), ("approval_required", &json!("nobody")));
    assert!(!lender.place.path("code/a.txt").exists());
}
