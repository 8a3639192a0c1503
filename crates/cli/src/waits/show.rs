//! `tombolo waits show`: prints all of a request, and the fingerprint of what it printed.

use clap::Args;
use serde_json::json;

use super::{
    answer::find,
    source::{ListedWait, WaitSource},
    view,
    wait_text::WaitText,
};
use crate::{exit::CommandResult, output::CommandOutput};

/// A wait.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The id of the wait, or enough of its beginning or end to be unambiguous
    id: String,
}

impl ShowArgs {
    pub(super) async fn print(self, source: &WaitSource<'_>, output: CommandOutput) -> CommandResult {
        let listed = match find(source.fetch().await?, &self.id) {
            Ok(open) => open,
            Err(missing) => source.find_settled(&self.id).await.ok_or(missing)?,
        };
        let ListedWait { runtime, wait } = listed;
        let text = WaitText::new(runtime.as_ref(), &wait);
        let (full, fingerprint) = (text.full(), text.fingerprint());
        if output.json {
            let shown =
                json!({ "fingerprint": fingerprint, "text": full, "runtimeId": runtime, "wait": wait });
            return output.line(&shown.to_string());
        }
        if wait.settlement.is_some() {
            return output.line(&view::full(runtime.as_ref(), &wait));
        }
        let id = wait.id;
        output.line(&format!("{full}to accept it: tombolo waits answer {id} ANSWER --seen {fingerprint}"))
    }
}
