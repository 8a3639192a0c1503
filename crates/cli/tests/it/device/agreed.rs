//! What the owner agrees to in the terminal for more than once, and takes back.

use serde_json::json;

use super::{
    hub::Connected,
    terminal::{ALWAYS, Terminal},
    *,
};

/// Writes a file, whether the owner is asked or not.
async fn write(connected: &Connected, root: &str, path: &str) {
    let params = json!({ "root_id": root, "path": path, "content": "x", "encoding": "utf-8" });
    connected.ask("file.write", params).await.unwrap();
}

/// The same, with what the owner answers: they must be asked.
async fn asked(terminal: &mut Terminal, connected: &Connected, (root, path): (&str, &str), line: &str) {
    let answer = async {
        terminal.screen.sees(&format!("  where | {root}:{path}")).await;
        terminal.answers(ALWAYS, line).await;
    };
    tokio::join!(write(connected, root, path), answer);
}

/// relay-143: yes is for this time, whatever the policy; always is for what the question says.
#[tokio::test(flavor = "multi_thread")]
async fn only_always_is_remembered() {
    let mut hub = StandIn::start().await;
    let (mut terminal, connected) = Terminal::open(&mut hub, &["--ask", "writes=ask_once"]).await;
    asked(&mut terminal, &connected, ("main", "a.txt"), "y").await;
    asked(&mut terminal, &connected, ("main", "a.txt"), "y").await;
    let always = async {
        terminal
            .screen
            .sees("  always| writing any file in main, for requests that name no workspace, until you")
            .await;
        terminal.answers(ALWAYS, "a").await;
        terminal.screen.sees("allowed, and remembered until you type `forget`").await;
    };
    tokio::join!(write(&connected, "main", "b.txt"), always);
    write(&connected, "main", "c.txt").await;
    asked(&mut terminal, &connected, ("other", "d.txt"), "y").await;
    let delete =
        connected.ask("file.delete", json!({ "root_id": "main", "path": "c.txt", "recursive": true }));
    let refuse = async {
        terminal.screen.sees("wants to delete a file, or a directory with all its contents").await;
        terminal.answers(ALWAYS, "n").await;
    };
    assert_eq!(tokio::join!(delete, refuse).0.unwrap_err().code.as_str(), "policy_blocked");
    assert!(terminal.written("c.txt"));
}

/// relay-143: "the remembered decision is … revocable", from anywhere on the machine and where the device runs.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_agreed_to_can_be_taken_back() {
    let mut hub = StandIn::start().await;
    let (mut terminal, connected) = Terminal::open(&mut hub, &["--ask", "writes=ask_once_per_run"]).await;
    asked(&mut terminal, &connected, ("main", "a.txt"), "a").await;
    write(&connected, "main", "b.txt").await;
    let forgot = terminal.place.run(&["forget"]);
    assert!(forgot.status.success(), "{}", text(&forgot.stderr));
    assert!(text(&forgot.stderr).contains("you are asked again"), "{}", text(&forgot.stderr));
    asked(&mut terminal, &connected, ("main", "c.txt"), "a").await;
    write(&connected, "main", "d.txt").await;
    terminal.screen.type_line("forget").await;
    terminal.screen.sees("forgot all remembered approvals; you are asked again").await;
    asked(&mut terminal, &connected, ("main", "e.txt"), "y").await;
}
