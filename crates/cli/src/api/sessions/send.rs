//! `tombolo api sessions send`: a message and its attachments.

use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use clap::Args;
use protocol::{
    Author, IdempotencyKey, SessionId,
    sessions::{MessageAttachment, SendMessageRequest, WhenBusy},
};

use crate::{
    api::input,
    exit::{CommandError, local},
    output::CommandOutput,
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
}

impl SendArgs {
    /// Reads the message and its attachments into a request.
    pub(super) async fn into_request(
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
