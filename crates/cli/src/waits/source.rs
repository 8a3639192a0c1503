//! The server that lists and settles waits: a hub, or one daemon.

use client::Client;
use protocol::{
    RuntimeId,
    wait::{AnswerWaitRequest, Wait},
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

/// A wait, and the runtime it belongs to. A daemon lists only its own waits and names no runtime.
pub(super) struct ListedWait {
    pub(super) runtime: Option<RuntimeId>,
    pub(super) wait: Wait,
}

impl ListedWait {
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
                            .map(|item| ListedWait { runtime: Some(item.runtime_id), wait: item.wait }),
                    )
                })
            }
            WaitSource::Daemon(daemon) => {
                let answer = daemon.waits().list().await?;
                output.answer(&answer, |list| view::table(list.items.into_iter().map(ListedWait::of_daemon)))
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
    pub(super) async fn fetch(&self) -> Result<Vec<ListedWait>, CommandError> {
        Ok(match self {
            WaitSource::Hub(hub) => {
                let items = hub.inbox().list().await?.read()?.items.into_iter();
                items.map(|item| ListedWait { runtime: Some(item.runtime_id), wait: item.wait }).collect()
            }
            WaitSource::Daemon(daemon) => {
                daemon.waits().list().await?.read()?.items.into_iter().map(ListedWait::of_daemon).collect()
            }
        })
    }

    /// A wait that is no longer open. Servers know it by its whole id only.
    pub(super) async fn find_settled(&self, id: &str) -> Option<ListedWait> {
        let id = id.parse().ok()?;
        let found = match self {
            WaitSource::Hub(hub) => {
                let item = hub.inbox().get(id).await.ok()?.read().ok()?;
                ListedWait { runtime: Some(item.runtime_id), wait: item.wait }
            }
            WaitSource::Daemon(daemon) => {
                ListedWait::of_daemon(daemon.waits().get(id).await.ok()?.read().ok()?)
            }
        };
        found.wait.settlement.is_some().then_some(found)
    }

    /// Answers a wait, and prints how it was settled.
    pub(super) async fn answer(
        &self,
        open: &ListedWait,
        reply: &AnswerWaitRequest,
        output: CommandOutput,
    ) -> CommandResult {
        let ListedWait { runtime, wait } = open;
        let settled = match (self, runtime) {
            (WaitSource::Hub(hub), Some(runtime)) => hub.inbox().answer(runtime, wait.id, reply).await?,
            (WaitSource::Hub(client), None) | (WaitSource::Daemon(client), _) => {
                client.waits().answer(wait.id, reply).await?
            }
        };
        output.answer(&settled, |wait| view::settled(runtime.as_ref(), &wait))
    }
}
