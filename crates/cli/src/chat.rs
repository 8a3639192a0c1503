//! `tombolo chat`: a conversation with an agent in the terminal, line by line. `tombolo run`: one prompt and its answer.
//!
//! One loop reads the events of the session, the user's input and signals. What is typed while the agent works is sent to the
//! daemon at once and queued there, so it is not lost if the terminal closes.

mod allow_rule;
mod background_printer;
mod chat_input;
mod chat_loop;
mod closable_prompt;
mod default_agent;
mod device_approvals;
mod diff;
mod lent_device;
mod one_shot;
mod options;
mod permission_view;
pub(crate) mod request_text;
mod run_options;
mod screen;
mod session;
mod session_options;
mod session_view;
mod stray_line;
pub(crate) mod wait_prompt;
mod watch_view;
mod working_directory;

use std::process::ExitCode;

use client::Client;

pub(crate) use one_shot::run as run_prompt;
pub(crate) use options::ChatOptions;
pub(crate) use run_options::RunOptions;
pub(crate) use screen::escape_controls;
pub(crate) use watch_view::WatchView;
pub(crate) use working_directory::resolve as resolve_directory;

use crate::{
    exit::{self, CommandResult},
    server_args::{DaemonUrl, ServerArgs},
};
use chat_input::ChatInput;
use chat_loop::ChatLoop;
use screen::{ChatScreen, TextStyle};
use session::OpenedSession;
use session_view::SessionView;

/// How many earlier messages are shown when a session is resumed.
const PAST_MESSAGES_MAX: usize = 6;

/// The beginning of the id of a new session.
const ID_PREFIX: &str = "chat";

/// Runs the chat until the user leaves or the session ends.
pub(crate) fn run(options: &ChatOptions) -> ExitCode {
    run_on_daemon(&options.server, "tombolo chat", async |client| chat(client, options).await)
}

/// Runs a conversation with the daemon that the options name, and reports its failure.
fn run_on_daemon(
    server: &ServerArgs<DaemonUrl>,
    command: &str,
    converse: impl AsyncFnOnce(&Client) -> CommandResult,
) -> ExitCode {
    let outcome = server.connect().and_then(|client| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(converse(&client));
        // Do not wait for the thread that reads the keyboard: its read may never return.
        runtime.shutdown_background();
        outcome
    });
    let hint = outcome.as_ref().err().and_then(|failure| server.hint(failure));
    let code = exit::report(outcome, false, &format!("{command} at {}", server.url()));
    if let Some(hint) = hint {
        exit::say(&hint);
    }
    code
}

async fn chat(client: &Client, options: &ChatOptions) -> CommandResult {
    let opened = session::open_session(client, &options.session, ID_PREFIX).await?;
    let OpenedSession { id, snapshot, resumed } = &opened;
    let events = client
        .sessions()
        .events(id, snapshot.seq, false)
        .await?
        .reconnect_for(options.session.reconnect_timeout);
    let (input, printer) = ChatInput::open()?;
    let mut screen = ChatScreen::new(input.is_terminal());
    screen.set_printer(printer);
    let mut view = SessionView::new(screen);
    view.show_header(&snapshot.session, *resumed)?;
    if *resumed {
        let skip = snapshot.messages.len().saturating_sub(PAST_MESSAGES_MAX);
        if snapshot.has_earlier || skip > 0 {
            view.screen.line(TextStyle::Dim, "…")?;
        }
        snapshot.messages[skip..].iter().try_for_each(|message| view.show_past_message(message))?;
    }
    let chat = ChatLoop::new(client, &opened, view, input)?;
    chat.with_device_approvals().await.run(events).await
}
