//! A user who talks to an agent lends it a device, and approves what the agent does there.

use std::time::Duration;

use super::*;
use crate::terminal_process::TerminalProcess;

/// The chat takes no line for an answer that was entered earlier than this after the question.
const READING_TIME: Duration = Duration::from_millis(750);

/// Issue 17: "`tombolo chat` shows device approvals of its session, has `--device NAME[:root,…]` to lend".
#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_lent_and_its_use_is_approved_in_the_chat() {
    let terminal = testkit::TestDaemon::start(TOMBOLO);
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    let (_device, _tools) = lend(&hub, "always_ask");
    let token_file = terminal.home().join("hub-token");
    std::fs::write(&token_file, hub.token()).unwrap();
    let endpoint = format!("{}/api/runtimes/box", hub.base());
    let args = ["chat", "--agent", "mock", "--session", "s", "--device", "laptop:main"];
    let login = ["--endpoint", &endpoint, "--token-file", token_file.to_str().unwrap()];
    let mut chat = TerminalProcess::start(terminal, &[&args[..], &login].concat()).await;
    chat.sees("new session s").await;
    chat.type_line("/servers").await;
    chat.sees("servers: ").await;
    assert!(typed(&hub, &["hub", "environments", "list"]).contains("laptop"));

    let (id, secret) = session_environment(&hub, "s");
    for (answer, shown, is_allowed) in
        [("allow once", "allowed once by owner", true), ("deny", "denied by owner", false)]
    {
        let door = (id.as_str(), secret.as_str());
        let run = ask(&hub, door, "shell.start", json!({ "command": "echo from the device" }));
        let answered = async {
            chat.sees("run `echo from the device` on laptop").await;
            chat.sees("press Enter to answer").await;
            chat.type_line("").await;
            chat.sees("[d]eny >").await;
            // A line that was typed before the request could be read is no answer to it.
            tokio::time::sleep(READING_TIME).await;
            chat.type_line(answer).await;
            chat.sees(shown).await;
        };
        let (result, ()) = tokio::join!(run, answered);
        assert_eq!(result["relay"].is_null(), is_allowed, "{result}");
    }
    chat.type_text("\u{4}").await;
    assert_eq!(chat.exit_code().await, 0);
}
