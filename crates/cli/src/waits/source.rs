//! The server that lists and settles waits: a hub, or one daemon.

use client::Client;
use protocol::{
    ProblemKind, RuntimeId,
    wait::{AnswerWaitRequest, Wait, WaitAnswer},
};

use super::view;
use crate::{
    exit::{CommandError, CommandResult},
    output::CommandOutput,
};

/// The server whose waits are shown.
pub(super) enum WaitSource<'a> {
    Hub(&'a Client),
    Daemon(&'a Client),
}

/// An open wait, and the runtime it belongs to. A daemon lists only its own waits and names no runtime.
pub(super) struct OpenWait {
    pub(super) runtime: Option<RuntimeId>,
    pub(super) wait: Wait,
}

impl OpenWait {
    fn of_daemon(wait: Wait) -> Self {
        Self { runtime: None, wait }
    }
}

impl WaitSource<'_> {
    /// Prints the open waits.
    pub(super) async fn list(&self, output: CommandOutput) -> CommandResult {
        match self {
            WaitSource::Hub(hub) => {
                let answer = hub.inbox().list().await?;
                output.answer(&answer, |inbox| {
                    for runtime in &inbox.unavailable_runtimes {
                        output.print_note(&format!(
                            "runtime {runtime} is unreachable: its waits are not listed"
                        ));
                    }
                    view::table(
                        inbox
                            .items
                            .into_iter()
                            .map(|item| OpenWait { runtime: Some(item.runtime_id), wait: item.wait }),
                    )
                })
            }
            WaitSource::Daemon(daemon) => {
                let answer = daemon.waits().list().await?;
                output.answer(&answer, |list| view::table(list.items.into_iter().map(OpenWait::of_daemon)))
            }
        }
    }

    /// Prints the open waits, then each wait that opens or is settled.
    pub(super) async fn follow(&self, output: CommandOutput) -> CommandResult {
        match self {
            WaitSource::Hub(hub) => view::follow(hub.inbox().events().await?, output).await,
            WaitSource::Daemon(daemon) => view::follow(daemon.waits().events().await?, output).await,
        }
    }

    /// Fetches the open waits.
    pub(super) async fn fetch(&self) -> Result<Vec<OpenWait>, CommandError> {
        Ok(match self {
            WaitSource::Hub(hub) => {
                let items = hub.inbox().list().await?.read()?.items.into_iter();
                items.map(|item| OpenWait { runtime: Some(item.runtime_id), wait: item.wait }).collect()
            }
            WaitSource::Daemon(daemon) => {
                daemon.waits().list().await?.read()?.items.into_iter().map(OpenWait::of_daemon).collect()
            }
        })
    }

    /// How a wait was settled that is no longer open, as the error of an answer that comes too late. A daemon knows recent waits
    /// by their whole id.
    pub(super) async fn how_settled(&self, id: &str) -> Option<CommandError> {
        let (WaitSource::Daemon(daemon), Ok(id)) = (self, id.parse()) else { return None };
        // The wait is not open, so that this answer can only be refused.
        let reply = AnswerWaitRequest { answer: WaitAnswer::Reject, author: None };
        let error = daemon.waits().answer(id, &reply).await.err()?;
        (error.kind() == Some(ProblemKind::WaitSettled)).then(|| error.into())
    }

    /// Answers a wait, and prints how it was settled.
    pub(super) async fn answer(
        &self,
        open: &OpenWait,
        reply: &AnswerWaitRequest,
        output: CommandOutput,
    ) -> CommandResult {
        let OpenWait { runtime, wait } = open;
        let settled = match (self, runtime) {
            (WaitSource::Hub(hub), Some(runtime)) => hub.inbox().answer(runtime, wait.id, reply).await?,
            (WaitSource::Hub(client), None) | (WaitSource::Daemon(client), _) => {
                client.waits().answer(wait.id, reply).await?
            }
        };
        output.answer(&settled, |wait| view::settled(runtime.as_ref(), &wait))
    }
}
