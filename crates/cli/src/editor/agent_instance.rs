//! The ACP instance that the editor talks to: finds or creates it, and deletes it at the end if this process created it.

use std::time::Duration;

use client::{Client, Error};
use protocol::{
    AgentName, ServerId,
    acp::{AcpInstance, AcpInstanceState, PrepareInstanceRequest},
};
use uuid::Uuid;

use super::{options::EditorOptions, retry_policy::RetryPolicy};
use crate::{
    api::input::EnvironmentVariable,
    exit::{CommandError, CommandResult, say},
};

/// How long to try to delete the instance after the editor has left. The daemon gives an agent two seconds to exit, and the
/// network may be down for a moment.
const DELETE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one request may take before it is repeated.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The creator of the instance, which also deletes it.
#[derive(Debug, PartialEq)]
enum InstanceOwner {
    /// It was not created yet.
    None,
    /// This process has created it, or has tried to.
    ThisProcess,
    /// Another client. The instance stays when this process ends.
    OtherClient,
}

/// The ACP instance that the editor talks to.
pub(super) struct AgentInstance<'a> {
    client: &'a Client,
    id: ServerId,
    options: &'a EditorOptions,
    owner: InstanceOwner,
}

/// Where the conversation with an instance starts.
pub(super) struct ConversationStart {
    /// Read events after this one; earlier ones belong to other clients.
    pub(super) after: Option<u64>,
    /// The agent to name in the first message, if the instance is not running and has to be started.
    pub(super) agent: Option<AgentName>,
}

impl<'a> AgentInstance<'a> {
    pub(super) fn new(client: &'a Client, options: &'a EditorOptions) -> Result<Self, CommandError> {
        let random = || format!("editor-{}", Uuid::new_v4().simple()).parse::<ServerId>();
        let id = match &options.server_id {
            Some(id) => id.clone(),
            None => random().map_err(|error| CommandError::Local(error.into()))?,
        };
        Ok(Self { client, id, options, owner: InstanceOwner::None })
    }

    pub(super) fn id(&self) -> &ServerId {
        &self.id
    }

    /// Finds the instance that the options name, or creates one. A new agent starts with the first message.
    pub(super) async fn find_or_create(
        &mut self,
        retry: RetryPolicy,
    ) -> Result<ConversationStart, CommandError> {
        if self.options.server_id.is_some()
            && let Some(found) = self.find(retry).await?
        {
            return self.share(&found);
        }
        // Create the instance before the first message, so that messages need not name the agent. A delayed copy of a message
        // with an agent name could otherwise create the instance again after it was deleted.
        let prepare = PrepareInstanceRequest {
            agent: self.options.agent.clone(),
            cwd: self.options.directory.clone(),
            env: EnvironmentVariable::pairs(&self.options.env),
            args: Vec::new(),
            linger_ms: Some(crate::duration::milliseconds(self.options.linger())),
        };
        // Set before the request: if its answer is lost, the instance may exist and must be deleted.
        self.owner = InstanceOwner::ThisProcess;
        let created = retry.run(|| bounded(self.client.acp().prepare(&self.id, &prepare))).await;
        if let Err(error) = created {
            if matches!(error, Error::Problem(_)) {
                self.owner = InstanceOwner::None;
            }
            return Err(error.into());
        }
        Ok(ConversationStart { after: None, agent: None })
    }

    async fn find(&self, retry: RetryPolicy) -> Result<Option<AcpInstance>, CommandError> {
        let list = retry.run(|| bounded(self.client.acp().list())).await?.read()?;
        Ok(list.items.into_iter().find(|instance| instance.server_id == self.id))
    }

    /// Uses an instance that already exists.
    fn share(&mut self, found: &AcpInstance) -> Result<ConversationStart, CommandError> {
        let (id, agent) = (&self.id, &self.options.agent);
        if found.agent != *agent {
            return Err(CommandError::Usage(format!(
                "instance `{id}` runs the agent `{}`, not `{agent}`; choose another --server-id, or pass --agent {}",
                found.agent, found.agent
            )));
        }
        if self.options.directory.is_some() || !self.options.env.is_empty() {
            say(&format!(
                "tombolo: --directory and --env are ignored, because instance `{id}` already exists"
            ));
        }
        self.owner = InstanceOwner::OtherClient;
        let agent = (found.state != AcpInstanceState::Running).then(|| agent.clone());
        Ok(ConversationStart { after: Some(found.events.newest), agent })
    }

    /// Deletes the instance if this process created it. Retries, because the network may be down for a moment.
    pub(super) async fn delete_if_owned(&self) -> CommandResult {
        if self.owner != InstanceOwner::ThisProcess {
            return Ok(());
        }
        let delete =
            RetryPolicy::new(DELETE_TIMEOUT).run(|| bounded(self.client.acp().delete(&self.id, None)));
        let error = match tokio::time::timeout(DELETE_TIMEOUT, delete).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => Error::Transport("the daemon did not answer in time".into()),
        };
        let (id, endpoint) = (&self.id, self.client.endpoint());
        say(&format!(
            "tombolo: the agent may still be running; stop it with `tombolo api acp delete {id} --endpoint {endpoint}`"
        ));
        Err(error.into())
    }
}

/// Limits the time of one request.
async fn bounded<T>(answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match tokio::time::timeout(REQUEST_TIMEOUT, answer).await {
        Ok(answer) => answer,
        Err(_) => Err(Error::Transport("the daemon did not answer in time".into())),
    }
}
