//! `tombolo api sessions send`: a message and its attachments.

use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use clap::Args;
use client::{Client, RecordEvent};
use protocol::{
    Author, Event, IdempotencyKey, SessionId,
    sessions::{MessageAttachment, SendMessageRequest, WhenBusy},
};

use super::view;
use crate::{
    api::input,
    chat::escape_controls,
    exit::{CommandError, CommandResult, IncompleteTurn, local},
    output::CommandOutput,
    turn_answer::TurnAnswer,
};

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The session
    id: SessionId,
    /// The message; `-` or nothing reads standard input
    message: Option<String>,
    /// Choose what happens while a turn runs: queue the message, reject it, or steer (pass it to the agent at once)
    #[arg(long, value_name = "ACTION", default_value = "queue", value_parser = parse_when_busy)]
    when_busy: WhenBusy,
    /// Attach a file of the sandbox by its path; may be repeated
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Attach a local text file; may be repeated
    #[arg(long, value_name = "FILE")]
    text: Vec<PathBuf>,
    /// Attach a local image (png, jpeg, gif or webp); may be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Record this name as the author of the message
    #[arg(long)]
    author: Option<Author>,
    /// Accept the message once even if this command is repeated with the same key
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,
    /// Wait for the end of the turn, and print the answer of the agent
    #[arg(long)]
    wait: bool,
}

impl SendArgs {
    /// Sends the message, and waits for the answer if the user wants it.
    pub(super) async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let wait = self.wait;
        let (id, send, key) = self.into_request(output).await?;
        if wait {
            return send_and_wait(client, &id, &send, key.as_ref(), output).await;
        }
        output.answer(&client.sessions().send(&id, &send, key.as_ref()).await?, |sent| view::sent(&sent))
    }

    /// Reads the message and its attachments into a request.
    async fn into_request(
        self,
        output: CommandOutput,
    ) -> Result<(SessionId, SendMessageRequest, Option<IdempotencyKey>), CommandError> {
        let message = input::text(self.message, output).await?;
        let mut attachments: Vec<_> =
            self.file.into_iter().map(|path| MessageAttachment::File { path }).collect();
        for path in &self.text {
            let text = String::from_utf8_lossy(&read_file(path).await?).into_owned();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            attachments.push(MessageAttachment::Text { name, text });
        }
        for path in &self.image {
            let mime_type = image_type(path)?.to_owned();
            let data = BASE64_STANDARD.encode(read_file(path).await?);
            attachments.push(MessageAttachment::Image { mime_type, data });
        }
        let send =
            SendMessageRequest { message, attachments, when_busy: self.when_busy, author: self.author };
        Ok((self.id, send, self.idempotency_key))
    }
}

/// Sends the message, follows its turn and prints the answer: its text, or the message with `--json`.
async fn send_and_wait(
    client: &Client,
    id: &SessionId,
    send: &SendMessageRequest,
    key: Option<&IdempotencyKey>,
    output: CommandOutput,
) -> CommandResult {
    let sessions = client.sessions();
    let before = sessions.get(id).await?.read()?;
    // A message with a key may have been sent before, and its turn may be over.
    let offset = if key.is_some() { 0 } else { before.newest_seq };
    let mut events = sessions.events(id, offset, false).await?;
    let sent = sessions.send(id, send, key).await?.read()?;
    let running = before.turn_id.filter(|_| key.is_none());
    let mut answer = TurnAnswer::new(sent.turn_id, running);
    let ended = loop {
        if let Some(ended) = answer.end() {
            break ended.reason;
        }
        match events.next().await? {
            Some(RecordEvent::Record(record, _)) => {
                answer.apply(&record.event, record.time);
                if answer.has_started() && !output.json {
                    print_notes(&record.event, output);
                }
            }
            Some(_) => {}
            None => {
                let how = format!("session {id} was deleted");
                return Err(CommandError::AgentEnded { how, last_words: String::new() });
            }
        }
    };
    if output.json {
        output.line(&serde_json::to_string(&answer.message()).unwrap_or_default())?;
    } else if answer.message().is_some() {
        output.line(&escape_controls(answer.text().trim_end_matches('\n')))?;
    }
    IncompleteTurn::check(ended)
}

/// Says on stderr why there is no answer yet, or none at all.
fn print_notes(event: &Event, output: CommandOutput) {
    let wait = match event {
        Event::PermissionAsked(permission) => permission.id,
        Event::QuestionAsked(question) => question.id,
        Event::Error(error) => return output.print_note(&view::agent_error(error)),
        _ => return,
    };
    output.print_note(&format!(
        "the agent waits for an answer: read the request with `tombolo waits show {wait}`, answer with `tombolo waits answer {wait}`"
    ));
}

async fn read_file(path: &Path) -> Result<Vec<u8>, CommandError> {
    let read = tokio::fs::read(path).await;
    read.map_err(|error| local(&format!("read `{}`", path.display()), error))
}

fn image_type(path: &Path) -> Result<&'static str, CommandError> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("png") => Ok("image/png"),
        Some("jpg" | "jpeg") => Ok("image/jpeg"),
        Some("gif") => Ok("image/gif"),
        Some("webp") => Ok("image/webp"),
        _ => Err(CommandError::Usage(format!(
            "--image: the name `{}` does not end in .png, .jpg, .jpeg, .gif or .webp",
            path.display()
        ))),
    }
}

fn parse_when_busy(text: &str) -> Result<WhenBusy, &'static str> {
    serde_json::from_value(text.into()).map_err(|_| "use queue, reject or steer")
}
