//! `tombolo chat` on a terminal, which is one of the daemon's own.

use std::time::Duration;

use testkit::TestDaemonOptions;

use super::*;
use crate::terminal_process::TerminalProcess;

/// How long a question is on the screen before it can be answered.
const READING_TIME: Duration = Duration::from_millis(750);

/// How much others say while a line is typed.
const OTHERS: u64 = 40;

/// Starts `tombolo chat` in the session `s` with the agent `mock`, on a daemon of its own.
async fn start_chat() -> TerminalProcess {
    TerminalProcess::start(TestDaemon::start(TOMBOLO), &["chat", "--agent", "mock", "--session", "s"]).await
}

/// Issue 4: "streaming text, tool calls, diffs, permission and question prompts".
#[tokio::test]
async fn a_conversation_on_a_terminal() {
    let mut screen = start_chat().await;
    screen.sees("> ").await;
    screen.type_text("hello there\r").await;
    screen.sees("\nhello there").await;
    screen.sees("> ").await;
    screen.type_text("/edit\r").await;
    // Coloured: red is what was, green is what is.
    screen.sees("\x1b[31m-old friend").await;
    screen.sees("\x1b[32m+new friend").await;
    screen.sees("> ").await;
    screen.type_text("/permission\r").await;
    screen.sees("Remove everything").await;
    screen.sees("allow [o]nce, allow [a]lways, [d]eny > ").await;
    tokio::time::sleep(READING_TIME).await;
    screen.type_text("?\r").await;
    screen.sees("type o to allow once").await;
    screen.type_text("a\r").await;
    screen.sees("permission answered: always").await;
    screen.sees("> ").await;
    screen.type_text("/question\r").await;
    screen.sees("Which colour should it have?").await;
    tokio::time::sleep(READING_TIME).await;
    screen.type_text("2\r").await;
    screen.sees("Which parts should be painted?").await;
    tokio::time::sleep(READING_TIME).await;
    screen.type_text("/reject\r").await;
    screen.sees("question answered: decline").await;
    screen.sees("> ").await;
    // Ctrl-D leaves, and says how to go on.
    screen.type_text("\x04").await;
    screen.sees("tombolo chat --session s").await;
    assert_eq!(screen.exit_code().await, 0);
    assert_eq!(get(&screen.daemon, &path("s", "")).await["state"], "idle");
}

/// Types a prompt that does not end by itself, and waits until the agent works on it.
async fn hang(screen: &mut TerminalProcess, prompt: &str) {
    let newest = get(&screen.daemon, &path("s", "")).await["newestSeq"].as_u64().unwrap();
    let mut followed = Followed::new(&screen.daemon, "s", newest).await;
    screen.sees("> ").await;
    screen.type_text(prompt).await;
    followed.until("turnStarted").await;
}

/// Issue 4: "Ctrl-C to interrupt"; what is typed during a turn waits for its own, or is told at once with `!`.
#[tokio::test]
async fn a_turn_is_queued_behind_steered_and_interrupted() {
    let mut screen = start_chat().await;
    screen.sees("new session").await;
    hang(&mut screen, "/hang\r").await;
    screen.type_text("later\r").await;
    screen.sees("queued until the current turn ends").await;
    screen.type_text("!hurry\r").await;
    screen.sees("sent to the agent").await;
    screen.sees("hurry").await;
    screen.sees("later").await;
    hang(&mut screen, "/hang\r").await;
    screen.type_text("\x03").await;
    screen.sees("– interrupted").await;
    screen.sees("> ").await;
    screen.type_text("\x03").await;
    screen.sees("press Ctrl-C again to leave").await;
    screen.sees("> ").await;
    screen.type_text("\x03").await;
    screen.sees("continue with").await;
    assert_eq!(screen.exit_code().await, 0);
}

/// Pressed twice, Ctrl-C leaves a turn to itself.
#[tokio::test]
async fn two_interrupts_leave_and_the_session_stays() {
    let mut screen = start_chat().await;
    screen.sees("new session").await;
    // The mock hears nothing while it pauses, so the turn does not end between the two.
    hang(&mut screen, "/drip 1 5000\r").await;
    screen.type_text("\x03").await;
    screen.sees("– interrupting the agent; press Ctrl-C again to leave").await;
    screen.type_text("\x03").await;
    screen.sees("tombolo chat --session s").await;
    assert_eq!(screen.exit_code().await, 0);
    assert_eq!(get(&screen.daemon, &path("s", "")).await["id"], "s");
}

/// The texts that users sent to the session.
async fn sent(daemon: &TestDaemon) -> Vec<Value> {
    let messages = get(daemon, &path("s", "/messages")).await;
    let items = messages["items"].as_array().unwrap().iter().filter(|message| message["role"] == "user");
    items.map(|message| message["parts"][0]["text"].clone()).collect()
}

/// A question that another client has answered is no longer asked, and what was typed for it is no message.
#[tokio::test]
async fn a_key_for_a_question_that_another_client_answered_is_no_message() {
    let mut screen = start_chat().await;
    screen.sees("> ").await;
    screen.type_text("/permission\r").await;
    screen.sees("allow [o]nce, allow [a]lways, [d]eny > ").await;
    tokio::time::sleep(READING_TIME).await;
    screen.type_text("y").await;
    screen.sees("y").await;
    let wait = get(&screen.daemon, "/v1/waits").await["items"][0]["id"].as_str().unwrap().to_owned();
    let body = json!({ "answer": { "permission": "reject" }, "author": "carl" });
    assert_eq!(screen.daemon.post(&format!("/v1/waits/{wait}"), &body).await.status(), 200);
    screen.sees("denied by carl").await;
    screen.sees("no longer asked: press Enter").await;
    screen.type_text("\r").await;
    screen.sees("no longer open, so this was not sent").await;
    screen.sees("> ").await;
    screen.type_text("hello there\r").await;
    // The answer, above the next prompt.
    screen.sees("Khello there\r\n> ").await;
    assert_eq!(sent(&screen.daemon).await, ["/permission", "hello there"]);
}

/// A question that ended because the daemon was killed is no longer asked, and the user is told why.
#[tokio::test]
async fn a_question_that_a_restart_withdrew_is_no_longer_asked() {
    // The same port after the restart, so that the chat finds the daemon again.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut daemon = TestDaemonOptions::default().port(port).start(TOMBOLO);
    let arguments = ["chat", "--agent", "mock", "--session", "s"];
    let mut screen = TerminalProcess::start_at(TestDaemon::start(TOMBOLO), daemon.base(), &arguments).await;
    screen.sees("> ").await;
    screen.type_text("/permission\r").await;
    screen.sees("allow [o]nce, allow [a]lways, [d]eny > ").await;
    tokio::time::sleep(READING_TIME).await;
    screen.type_text("y").await;
    screen.sees("y").await;
    daemon.kill_and_restart();
    screen.sees("withdrawn").await;
    screen.sees("no longer asked: press Enter").await;
    screen.sees("the daemon restarted").await;
    screen.type_text("\r").await;
    screen.sees("was not sent").await;
    screen.sees("> ").await;
    screen.type_text("hello there\r").await;
    // The answer, above the next prompt.
    screen.sees("Khello there\r\n> ").await;
    assert_eq!(sent(&daemon).await, ["/permission", "hello there"]);
}

/// What others say in the session is shown above the line that is being typed.
#[tokio::test]
async fn what_others_say_is_shown() {
    let mut screen = start_chat().await;
    screen.sees("> ").await;
    screen.type_text("half a li").await;
    screen.sees("half a li").await;
    let body = json!({ "message": "from elsewhere", "author": "ada" });
    assert_eq!(send_with(&screen.daemon, "s", &body, None).await.status(), 202);
    screen.sees("ada").await;
    screen.sees("from elsewhere").await;
    screen.sees("from elsewhere").await;
    screen.type_text("ne\r").await;
    screen.sees("half a line\r\n").await;
    screen.sees("> ").await;
    screen.type_text("\x04").await;
    assert_eq!(screen.exit_code().await, 0);
}

/// A line that ends while much is shown above it ends, and all is shown.
#[tokio::test]
async fn a_line_ends_while_others_speak() {
    let mut screen = start_chat().await;
    screen.sees("> ").await;
    for number in 0..OTHERS {
        let body = json!({ "message": format!("/edit\nother {number}"), "author": "ada" });
        assert_eq!(send_with(&screen.daemon, "s", &body, None).await.status(), 202);
        screen.type_text("\r").await;
    }
    screen.type_text("/servers\r").await;
    screen.sees(&format!("other {}", OTHERS - 1)).await;
    screen.sees("servers: ").await;
}

/// Issue 17: chat "keeps a typed message through an outage and shows the outage".
#[tokio::test]
async fn a_message_that_is_typed_during_an_outage_is_sent_when_the_daemon_is_back() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut daemon = TestDaemonOptions::default().port(port).start(TOMBOLO);
    let arguments = ["chat", "--agent", "mock", "--session", "s"];
    let mut screen = TerminalProcess::start_at(TestDaemon::start(TOMBOLO), daemon.base(), &arguments).await;
    screen.sees("> ").await;
    daemon.signal("KILL");
    screen.sees("connection lost, reconnecting").await;
    screen.type_text("first\r").await;
    screen.sees("the message is sent when it is back").await;
    screen.type_text("second\r").await;
    screen.sees("the message is sent when it is back").await;
    daemon.kill_and_restart();
    screen.sees("connected again").await;
    screen.sees("first").await;
    screen.sees("second").await;
    screen.sees("> ").await;
    screen.type_text("third\r").await;
    Followed::new(&daemon, "s", 0).await.until_count("turnEnded", 3).await;
    assert_eq!(sent(&daemon).await, ["first", "second", "third"]);
}

/// What was not sent is not lost, and the conversation can go on later.
#[tokio::test]
async fn a_chat_that_gives_up_says_how_to_continue() {
    let daemon = TestDaemon::start(TOMBOLO);
    let arguments = ["chat", "--agent", "mock", "--session", "s", "--reconnect-timeout", "0"];
    let mut screen = TerminalProcess::start_at(TestDaemon::start(TOMBOLO), daemon.base(), &arguments).await;
    screen.sees("> ").await;
    daemon.signal("KILL");
    screen.sees("connection lost, reconnecting").await;
    screen.type_text("keep this\r").await;
    screen.sees("the message is sent when it is back").await;
    screen.sees("not sent: keep this").await;
    screen.sees("continue with `tombolo chat --session s`").await;
    assert_eq!(screen.exit_code().await, 3);
}
