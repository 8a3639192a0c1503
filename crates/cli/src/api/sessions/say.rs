//! A message for a session, and what goes with it.

use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use clap::Args;
use protocol::{
    Author, IdempotencyKey, SessionId,
    sessions::{Attachment, Send, WhenBusy},
};

use crate::{
    api::input,
    exit::{Failure, local},
    output::Output,
};

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The session
    id: SessionId,
    /// The message; `-` or nothing for standard input
    message: Option<String>,
    /// What to do while a turn runs: queue, reject or steer (tell the agent at once)
    #[arg(long, value_name = "WHAT", default_value = "queue", value_parser = when_busy)]
    when_busy: WhenBusy,
    /// A file of the sandbox that goes with it; may be repeated
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// A local text file that goes with it; may be repeated
    #[arg(long, value_name = "FILE")]
    text: Vec<PathBuf>,
    /// A local picture that goes with it: png, jpeg, gif or webp; may be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Who says it
    #[arg(long)]
    author: Option<Author>,
    /// A key that makes it safe to send the message again: it is taken once
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,
}

impl SendArgs {
    pub(super) async fn read(
        self,
        output: Output,
    ) -> Result<(SessionId, Send, Option<IdempotencyKey>), Failure> {
        let message = input::text(self.message, output).await?;
        let mut attachments: Vec<_> = self.file.into_iter().map(|path| Attachment::File { path }).collect();
        for path in &self.text {
            let text = String::from_utf8_lossy(&content(path).await?).into_owned();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            attachments.push(Attachment::Text { name, text });
        }
        for path in &self.image {
            let mime_type = picture(path)?.to_owned();
            let data = BASE64_STANDARD.encode(content(path).await?);
            attachments.push(Attachment::Image { mime_type, data });
        }
        let send = Send { message, attachments, when_busy: self.when_busy, author: self.author };
        Ok((self.id, send, self.idempotency_key))
    }
}

async fn content(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = tokio::fs::read(path).await;
    read.map_err(|error| local(&format!("read `{}`", path.display()), error))
}

fn picture(path: &Path) -> Result<&'static str, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("png") => Ok("image/png"),
        Some("jpg" | "jpeg") => Ok("image/jpeg"),
        Some("gif") => Ok("image/gif"),
        Some("webp") => Ok("image/webp"),
        _ => Err(Failure::Usage(format!("--image: `{}` is no png, jpeg, gif or webp", path.display()))),
    }
}

fn when_busy(text: &str) -> Result<WhenBusy, &'static str> {
    serde_json::from_value(text.into()).map_err(|_| "it must be queue, reject or steer")
}
