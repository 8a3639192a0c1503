//! The instance that is spoken to: whose it is, and what becomes of it.

use std::time::Duration;

use client::{Client, Error};
use protocol::{
    AgentName, ServerId,
    acp::{AcpInstance, AcpInstanceState, PrepareInstanceRequest},
};
use uuid::Uuid;

use super::{options::EditorOptions, patience::Patience};
use crate::exit::{Failure, Outcome, say};

/// How long it is tried to delete the instance when the editor has left. A daemon gives an agent two seconds to end by
/// itself, and the network may be down for a moment.
const FAREWELL_MAX: Duration = Duration::from_secs(10);

/// How long one question may take before it is asked again.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Who made the instance.
#[derive(Debug, PartialEq)]
enum Owner {
    /// Nobody yet, as far as we know.
    Nobody,
    /// We did, or tried to.
    Us,
    /// Somebody else: it stays when we leave.
    Others,
}

/// The instance that is spoken to.
pub(super) struct Claim<'a> {
    client: &'a Client,
    id: ServerId,
    options: &'a EditorOptions,
    owner: Owner,
}

/// Where a conversation starts.
pub(super) struct Start {
    /// The last event that is not ours to read.
    pub(super) after: Option<u64>,
    /// What the first message has to name, to start an agent that does not run.
    pub(super) agent: Option<AgentName>,
}

impl<'a> Claim<'a> {
    pub(super) fn new(client: &'a Client, options: &'a EditorOptions) -> Result<Self, Failure> {
        let random = || format!("editor-{}", Uuid::new_v4().simple()).parse::<ServerId>();
        let id = match &options.server_id {
            Some(id) => id.clone(),
            None => random().map_err(|error| Failure::Local(error.into()))?,
        };
        Ok(Self { client, id, options, owner: Owner::Nobody })
    }

    pub(super) fn id(&self) -> &ServerId {
        &self.id
    }

    /// Finds the instance, or makes it. Its agent starts with the first message.
    pub(super) async fn take(&mut self, patience: Patience) -> Result<Start, Failure> {
        if self.options.server_id.is_some()
            && let Some(found) = self.find(patience).await?
        {
            return self.share(&found);
        }
        // Made before the first message, which then need not name the agent: a late copy of a message can never make an
        // instance that was deleted already.
        let (agent, cwd) = (self.options.agent.clone(), self.options.cwd.clone());
        let linger_ms = Some(crate::duration::milliseconds(self.options.linger()));
        let prepare =
            PrepareInstanceRequest { agent, cwd, env: Default::default(), args: Vec::new(), linger_ms };
        // Even if the answer is lost.
        self.owner = Owner::Us;
        let made = patience.persist(|| bounded(self.client.acp().prepare(&self.id, &prepare))).await;
        if let Err(error) = made {
            if matches!(error, Error::Problem(_)) {
                self.owner = Owner::Nobody;
            }
            return Err(error.into());
        }
        Ok(Start { after: None, agent: None })
    }

    async fn find(&self, patience: Patience) -> Result<Option<AcpInstance>, Failure> {
        let list = patience.persist(|| bounded(self.client.acp().list())).await?.read()?;
        Ok(list.items.into_iter().find(|instance| instance.server_id == self.id))
    }

    fn share(&mut self, found: &AcpInstance) -> Result<Start, Failure> {
        let (id, asked) = (&self.id, &self.options.agent);
        if found.agent != *asked {
            return Err(Failure::Usage(format!("instance `{id}` runs `{}`, not `{asked}`", found.agent)));
        }
        if self.options.cwd.is_some() {
            say(&format!("tombolo: instance `{id}` is there already: --cwd changes nothing"));
        }
        self.owner = Owner::Others;
        let agent = (found.state != AcpInstanceState::Running).then(|| asked.clone());
        Ok(Start { after: Some(found.events.newest), agent })
    }

    /// Deletes the instance if it is ours, also over a network that is down for a moment.
    pub(super) async fn release(&self) -> Outcome {
        if self.owner != Owner::Us {
            return Ok(());
        }
        let persist =
            Patience::new(FAREWELL_MAX).persist(|| bounded(self.client.acp().delete(&self.id, None)));
        let error = match tokio::time::timeout(FAREWELL_MAX, persist).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => Error::Transport("the daemon did not answer".into()),
        };
        let (id, endpoint) = (&self.id, self.client.endpoint());
        say(&format!(
            "tombolo: the agent may be left running: `tombolo api acp delete {id} --endpoint {endpoint}` ends it"
        ));
        Err(error.into())
    }
}

/// The answer, if it comes before it is better to ask again.
async fn bounded<T>(answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match tokio::time::timeout(ANSWER_MAX, answer).await {
        Ok(answer) => answer,
        Err(_) => Err(Error::Transport("the daemon did not answer".into())),
    }
}
