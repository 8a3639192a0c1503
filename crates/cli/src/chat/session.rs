//! The session of a conversation: a new one, or one that goes on.

use std::time::Duration;

use backoff::Backoff;
use client::{Client, InstallEvent};
use protocol::{
    AgentName, IdempotencyKey, ProblemKind, SessionId,
    agents::InstallAgentRequest,
    sessions::{
        CreateSessionRequest, MessageAccepted, SendMessageRequest, Session, SessionSnapshot, WhenBusy,
    },
};

use super::{ChatOptions, show::describe};
use crate::{
    exit::{self, Failure},
    progress,
};

/// The agent of a new session if none is named.
const AGENT: &str = "claude";

/// How often a message is sent again whose fate is not known.
const TRIES_MAX: u32 = 5;

/// The shortest and the longest delay before it is sent again.
const RETRY_MIN: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// A session that is there.
pub(super) struct Opened {
    pub(super) id: SessionId,
    pub(super) snapshot: SessionSnapshot,
    pub(super) resumed: bool,
}

/// Finds or makes the session that the options name.
pub(super) async fn open(client: &Client, options: &ChatOptions) -> Result<Opened, Failure> {
    let known = match &options.session {
        Some(id) => find(client, id).await?,
        None => None,
    };
    let (id, resumed) = match known {
        Some(session) => {
            fits(&session, options)?;
            (session.id, true)
        }
        None => (create(client, options).await?, false),
    };
    let snapshot = client.sessions().snapshot(&id).await?.read()?;
    Ok(Opened { id, snapshot, resumed })
}

async fn find(client: &Client, id: &SessionId) -> Result<Option<Session>, Failure> {
    match client.sessions().get(id).await {
        Ok(answer) => Ok(Some(answer.read()?)),
        Err(error) if error.kind() == Some(ProblemKind::SessionNotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A session is as it was made: what is wished for otherwise is told, not passed over.
fn fits(session: &Session, options: &ChatOptions) -> Result<(), Failure> {
    let other = |what: &str, is: &str| {
        let message =
            format!("session {} has the {what} `{is}`; leave --{what} out, or --session", session.id);
        Err(Failure::Usage(message))
    };
    match options {
        ChatOptions { agent: Some(agent), .. } if *agent != session.agent => {
            other("agent", session.agent.as_str())
        }
        ChatOptions { model: Some(model), .. } if Some(model) != session.model.as_ref() => {
            other("model", session.model.as_deref().unwrap_or("of its own choice"))
        }
        ChatOptions { mode: Some(mode), .. } if *mode != session.agent_mode => {
            other("mode", &session.agent_mode)
        }
        ChatOptions { permission_mode: Some(mode), .. } if *mode != session.permission_mode => {
            let is = serde_json::to_value(session.permission_mode).unwrap_or_default();
            other("permission-mode", is.as_str().unwrap_or_default())
        }
        ChatOptions { directory: Some(directory), .. } if *directory != session.directory => {
            other("directory", &session.directory)
        }
        _ => Ok(()),
    }
}

async fn create(client: &Client, options: &ChatOptions) -> Result<SessionId, Failure> {
    let invalid = |error: protocol::InvalidId| Failure::Usage(error.to_string());
    let agent: AgentName = match &options.agent {
        Some(agent) => agent.clone(),
        None => AGENT.parse().map_err(invalid)?,
    };
    let id = match &options.session {
        Some(id) => id.clone(),
        None => format!("chat-{:08x}", uuid::Uuid::new_v4().as_fields().0).parse().map_err(invalid)?,
    };
    install(client, &agent).await;
    let create = CreateSessionRequest {
        agent: agent.clone(),
        agent_mode: options.mode.clone().unwrap_or_else(|| "build".into()),
        permission_mode: options.permission_mode.unwrap_or_default(),
        model: options.model.clone(),
        variant: options.variant.clone(),
        token: None,
        validate_token: false,
        agent_version: None,
        directory: options.directory.clone(),
        env: Default::default(),
        mcp: Default::default(),
        skills: Default::default(),
        title: None,
    };
    let created = client.sessions().create(&id, &create).await?.read()?;
    let Some(error) = created.error.filter(|_| !created.healthy) else { return Ok(id) };
    // A session whose agent never ran is of no use to anybody.
    let _ = client.sessions().delete(&id).await;
    let (what, todo) = describe(&error, &agent);
    Err(Failure::AgentEnded { how: what, last_words: todo.unwrap_or_default() })
}

/// Installs the agent if it is missing, and shows how far that is. If it fails, creating the session says why.
async fn install(client: &Client, agent: &AgentName) {
    let Some(list) = client.agents().list().await.ok().and_then(|list| list.read().ok()) else { return };
    if list.items.iter().any(|known| known.id == *agent && known.installed) {
        return;
    }
    let Ok(mut events) = client.agents().follow_install(agent, &InstallAgentRequest::default()).await else {
        return;
    };
    exit::say(&format!("{agent} is not installed yet"));
    let mut shown = progress::InstallProgressBars::default();
    while let Ok(Some(event)) = events.next().await {
        match event {
            InstallEvent::Progress(progress) => shown.show(&progress),
            InstallEvent::Done(..) => break,
        }
    }
    shown.clear();
}

/// Sends a message, again and again until it is known what became of it: under its key it is taken once.
pub(super) async fn send(
    client: &Client,
    id: &SessionId,
    message: String,
    when_busy: WhenBusy,
) -> client::Result<MessageAccepted> {
    let send = SendMessageRequest { message, attachments: Vec::new(), when_busy, author: None };
    let key = uuid::Uuid::new_v4().to_string().parse::<IdempotencyKey>().ok();
    let mut tries = 0;
    let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
    loop {
        match client.sessions().send(id, &send, key.as_ref()).await {
            Err(client::Error::Transport(_)) if tries < TRIES_MAX => {
                tries += 1;
                backoff.wait().await;
            }
            answer => return answer?.read(),
        }
    }
}
