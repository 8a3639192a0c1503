//! `tombolo run`: one prompt, its answer, and the outcome as the exit code.

use std::{
    io::{IsTerminal, Write, stderr, stdin, stdout},
    process::ExitCode,
};

use protocol::{InputId, event::TurnEndReason, sessions::MessageAccepted};
use serde_json::json;

use super::{
    RunOptions,
    allow_rule::AllowRule,
    chat_input::ChatInput,
    chat_loop::ChatLoop,
    run_on_daemon,
    run_options::OutputFormat,
    screen::{AnswerOutput, ChatScreen},
    session,
    session_view::SessionView,
    wait_prompt::WaitPrompt,
};
use crate::{
    api,
    exit::{self, CommandError, CommandResult, IncompleteTurn},
    output::CommandOutput,
    turn_answer::TurnAnswer,
};

/// The beginning of the id of a new session.
const ID_PREFIX: &str = "run";

/// The one turn of `tombolo run`.
pub(super) struct OneShot {
    pub(super) input: InputId,
    pub(super) allow: AllowRule,
    pub(super) answer: TurnAnswer,
    /// The titles of the permission requests that were denied because no user could be asked.
    denied: Vec<String>,
}

impl OneShot {
    pub(super) fn new(sent: &MessageAccepted, allow: AllowRule) -> Self {
        Self { input: sent.input_id, allow, answer: TurnAnswer::new(sent.turn_id, None), denied: Vec::new() }
    }

    /// Says how a wait is answered without a user, and records what is denied.
    pub(super) fn describe_answer(&mut self, wait: &WaitPrompt, is_allowed: bool) -> String {
        let rule = self.allow.name();
        match wait.permission() {
            _ if is_allowed => format!("  allowed by --allow {rule}"),
            Some(permission) => {
                self.denied.push(permission.title.clone());
                let remedy = match self.allow {
                    AllowRule::None => "; --allow edits or --allow all would allow more",
                    AllowRule::Edits => "; --allow all would allow it",
                    AllowRule::All => "",
                };
                format!("  denied: there is no terminal to ask on, and the rule is --allow {rule}{remedy}")
            }
            None => "  not answered: there is no terminal to ask on".into(),
        }
    }
}

/// Runs one prompt to the end of its turn.
pub(crate) fn run(options: RunOptions) -> ExitCode {
    let RunOptions { prompt, allow, output_format, session, server } = options;
    run_on_daemon(&server, "tombolo run", async |client| {
        // The user answers on the terminal that standard input comes from.
        let has_user = stdin().is_terminal() && stderr().is_terminal();
        let prompt = api::text(prompt, CommandOutput { json: false }).await?;
        if prompt.trim().is_empty() {
            return Err(CommandError::Usage(
                "the prompt is empty: pass it as an argument or on standard input".into(),
            ));
        }
        let opened = session::open_session(client, &session, ID_PREFIX).await?;
        let answers = match output_format {
            OutputFormat::Text => AnswerOutput::Stdout,
            OutputFormat::Json => AnswerOutput::Discard,
        };
        let mut view = SessionView::new(ChatScreen::for_one_answer(has_user, answers));
        view.show_header(&opened.snapshot.session, opened.resumed)?;
        let events = client.sessions().events(&opened.id, opened.snapshot.seq, false).await?;
        let events = events.reconnect_for(session.reconnect_timeout);
        let input = if has_user { ChatInput::open_lines() } else { ChatInput::closed() };
        let chat_loop = ChatLoop::new(client, &opened, view, input)?;
        let outcome = chat_loop.run_one_shot(events, prompt, allow).await;
        exit::say(&format!("continue with `tombolo chat --session {}`", opened.id));
        let one_shot = outcome?;
        if output_format == OutputFormat::Json {
            print_json(&opened, &one_shot)?;
        }
        IncompleteTurn::check(one_shot.end_reason())
    })
}

impl OneShot {
    /// Why the turn ended. A user who leaves before its end interrupts it.
    fn end_reason(&self) -> TurnEndReason {
        self.answer.end().map_or(TurnEndReason::Interrupted, |end| end.reason)
    }
}

fn print_json(opened: &session::OpenedSession, one_shot: &OneShot) -> CommandResult {
    let OneShot { answer, denied, .. } = one_shot;
    let result = json!({
        "sessionId": opened.id,
        "turnId": answer.turn(),
        "outcome": one_shot.end_reason(),
        "answer": answer.text(),
        "usage": answer.end().and_then(|end| end.usage),
        "deniedPermissions": denied,
    });
    let mut stdout = stdout().lock();
    writeln!(stdout, "{result}")?;
    Ok(stdout.flush()?)
}
