//! `tombolo waits show`: prints all of a request, and the fingerprint of what it printed.

use clap::Args;
use serde_json::json;

use super::{answer::find, source::OpenWait, source::WaitSource, wait_text::WaitText};
use crate::{exit::CommandResult, output::CommandOutput};

/// A wait.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The id of the wait, or enough of its beginning or end to be unambiguous
    id: String,
}

impl ShowArgs {
    pub(super) async fn print(self, source: &WaitSource<'_>, output: CommandOutput) -> CommandResult {
        let OpenWait { runtime, wait } = find(source.fetch().await?, &self.id)?;
        let text = WaitText::new(runtime.as_ref(), &wait);
        let (full, fingerprint) = (text.full(), text.fingerprint());
        if output.json {
            let shown =
                json!({ "fingerprint": fingerprint, "text": full, "runtimeId": runtime, "wait": wait });
            return output.line(&shown.to_string());
        }
        let id = wait.id;
        output.line(&format!("{full}to accept it: tombolo waits answer {id} ANSWER --seen {fingerprint}"))
    }
}
