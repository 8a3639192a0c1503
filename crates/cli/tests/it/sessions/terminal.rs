//! `tombolo chat` on a terminal, which is one of the daemon's own.

use super::*;

/// How much others say while a line is typed.
const OTHERS: u64 = 40;

/// A conversation on a terminal.
struct Screen {
    daemon: TestDaemon,
    process: String,
    logs: EventStream,
    shown: String,
}

impl Screen {
    async fn open(arguments: &[&str]) -> Self {
        let daemon = TestDaemon::start(TOMBOLO);
        let mut args = vec!["chat", "--agent", "mock", "--session", "s"];
        args.extend(arguments);
        let env = json!({ "TOMBOLO_ENDPOINT": daemon.base(), "TERM": "xterm" });
        let start = json!({ "command": TOMBOLO, "args": args, "env": env, "terminal": { "columns": 100, "rows": 40 } });
        let process: Value = daemon.post("/v1/processes", &start).await.json().await.unwrap();
        let process = process["id"].as_str().unwrap().to_owned();
        let logs = EventStream::new(daemon.get(&format!("/v1/processes/{process}/logs?follow=true")).await);
        Self { daemon, process, logs, shown: String::new() }
    }

    async fn type_keys(&self, keys: &'static str) {
        let path = format!("/v1/processes/{}/input", self.process);
        let request =
            self.daemon.request(Method::POST, &path).header("content-type", "application/octet-stream");
        assert_eq!(request.body(keys).send().await.unwrap().status(), 204);
    }

    /// Waits until this is shown after what was waited for before.
    async fn sees(&mut self, text: &str) {
        let seen = async {
            loop {
                if let Some(at) = self.shown.find(text) {
                    self.shown.drain(..at + text.len());
                    return;
                }
                let event = self.logs.next().await.expect("it still runs");
                let data: Value = serde_json::from_str(&event.data).unwrap();
                self.shown.push_str(data["text"].as_str().unwrap_or_default());
            }
        };
        if tokio::time::timeout(secs(20), seen).await.is_err() {
            panic!("`{text}` was not shown, but {:?}", self.shown);
        }
    }

    /// Its exit code.
    async fn ended(&self) -> Value {
        let path = format!("/v1/processes/{}/wait?timeoutMs=20000", self.process);
        let process: Value = self.daemon.post_text(&path, "").await.json().await.unwrap();
        process["exit"]["code"].clone()
    }
}

/// Issue 4: "streaming text, tool calls, diffs, permission and question prompts".
#[tokio::test]
async fn a_conversation_on_a_terminal() {
    let mut screen = Screen::open(&[]).await;
    screen.sees("> ").await;
    screen.type_keys("hello there\r").await;
    screen.sees("\nhello there").await;
    screen.sees("> ").await;
    screen.type_keys("/edit\r").await;
    // Coloured: red is what was, green is what is.
    screen.sees("\x1b[31m-old friend").await;
    screen.sees("\x1b[32m+new friend").await;
    screen.sees("> ").await;
    screen.type_keys("/permission\r").await;
    screen.sees("Remove everything").await;
    screen.sees("[o]nce [a]lways [r]eject > ").await;
    screen.type_keys("?\r").await;
    screen.sees("type o to allow once").await;
    screen.type_keys("a\r").await;
    screen.sees("permission answered: always").await;
    screen.sees("> ").await;
    screen.type_keys("/question\r").await;
    screen.sees("Which colour should it have?").await;
    screen.type_keys("2\r").await;
    screen.sees("Which parts should be painted?").await;
    screen.type_keys("/reject\r").await;
    screen.sees("question answered: decline").await;
    screen.sees("> ").await;
    // Ctrl-D leaves, and says how to go on.
    screen.type_keys("\x04").await;
    screen.sees("tombolo chat --session s").await;
    assert_eq!(screen.ended().await, 0);
    assert_eq!(get(&screen.daemon, &path("s", "")).await["state"], "idle");
}

/// Types a prompt that does not end by itself, and waits until the agent works on it.
async fn hang(screen: &mut Screen, prompt: &'static str) {
    let newest = get(&screen.daemon, &path("s", "")).await["newestSeq"].as_u64().unwrap();
    let mut followed = Followed::new(&screen.daemon, "s", newest).await;
    screen.sees("> ").await;
    screen.type_keys(prompt).await;
    followed.until("turnStarted").await;
}

/// Issue 4: "Ctrl-C to interrupt"; what is typed during a turn waits for its own, or is told at once with `!`.
#[tokio::test]
async fn a_turn_is_queued_behind_steered_and_interrupted() {
    let mut screen = Screen::open(&[]).await;
    screen.sees("new session").await;
    hang(&mut screen, "/hang\r").await;
    screen.type_keys("later\r").await;
    screen.sees("queued until the current turn ends").await;
    screen.type_keys("!hurry\r").await;
    screen.sees("sent to the agent").await;
    screen.sees("hurry").await;
    screen.sees("later").await;
    hang(&mut screen, "/hang\r").await;
    screen.type_keys("\x03").await;
    screen.sees("– interrupted").await;
    screen.sees("> ").await;
    screen.type_keys("\x03").await;
    screen.sees("press Ctrl-C again to leave").await;
    screen.sees("> ").await;
    screen.type_keys("\x03").await;
    screen.sees("continue with").await;
    assert_eq!(screen.ended().await, 0);
}

/// Pressed twice, Ctrl-C leaves a turn to itself.
#[tokio::test]
async fn two_interrupts_leave_and_the_session_stays() {
    let mut screen = Screen::open(&[]).await;
    screen.sees("new session").await;
    // The mock hears nothing while it pauses, so the turn does not end between the two.
    hang(&mut screen, "/drip 1 5000\r").await;
    screen.type_keys("\x03").await;
    screen.sees("– interrupting the agent; press Ctrl-C again to leave").await;
    screen.type_keys("\x03").await;
    screen.sees("tombolo chat --session s").await;
    assert_eq!(screen.ended().await, 0);
    assert_eq!(get(&screen.daemon, &path("s", "")).await["id"], "s");
}

/// What others say in the session is shown above the line that is being typed.
#[tokio::test]
async fn what_others_say_is_shown() {
    let mut screen = Screen::open(&[]).await;
    screen.sees("> ").await;
    screen.type_keys("half a li").await;
    screen.sees("half a li").await;
    let body = json!({ "message": "from elsewhere", "author": "ada" });
    assert_eq!(send_with(&screen.daemon, "s", &body, None).await.status(), 202);
    screen.sees("ada").await;
    screen.sees("from elsewhere").await;
    screen.sees("from elsewhere").await;
    screen.type_keys("ne\r").await;
    screen.sees("half a line\r\n").await;
    screen.sees("> ").await;
    screen.type_keys("\x04").await;
    assert_eq!(screen.ended().await, 0);
}

/// A line that ends while much is shown above it ends, and all is shown.
#[tokio::test]
async fn a_line_ends_while_others_speak() {
    let mut screen = Screen::open(&[]).await;
    screen.sees("> ").await;
    for number in 0..OTHERS {
        let body = json!({ "message": format!("/edit\nother {number}"), "author": "ada" });
        assert_eq!(send_with(&screen.daemon, "s", &body, None).await.status(), 202);
        screen.type_keys("\r").await;
    }
    screen.type_keys("/servers\r").await;
    screen.sees(&format!("other {}", OTHERS - 1)).await;
    screen.sees("servers: ").await;
}
