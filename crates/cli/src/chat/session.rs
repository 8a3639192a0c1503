//! Opens the session of a chat, new or existing, and sends messages to it.

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

use super::{default_agent, session_options::SessionOptions, session_view::ErrorHelp};
use crate::{
    exit::{self, CommandError},
    progress,
};

/// How often a message is sent again after a connection failure.
const RETRIES_MAX: u32 = 5;

/// The shortest and the longest delay before a message is sent again.
const RETRY_MIN: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// A session that exists, with its state at the moment it was opened.
pub(super) struct OpenedSession {
    pub(super) id: SessionId,
    pub(super) snapshot: SessionSnapshot,
    pub(super) resumed: bool,
}

/// Finds or creates the session that the options name. A generated id begins with `prefix`.
pub(super) async fn open_session(
    client: &Client,
    options: &SessionOptions,
    prefix: &str,
) -> Result<OpenedSession, CommandError> {
    let existing = match &options.session {
        Some(id) => find_session(client, id).await?,
        None => None,
    };
    let (id, resumed) = match existing {
        Some(session) => {
            check_options(&session, options)?;
            (session.id, true)
        }
        None => (create_session(client, options, prefix).await?, false),
    };
    let snapshot = client.sessions().snapshot(&id).await?.read()?;
    Ok(OpenedSession { id, snapshot, resumed })
}

async fn find_session(client: &Client, id: &SessionId) -> Result<Option<Session>, CommandError> {
    match client.sessions().get(id).await {
        Ok(answer) => Ok(Some(answer.read()?)),
        Err(error) if error.kind() == Some(ProblemKind::SessionNotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Rejects options that differ from those the session was created with, because they cannot be changed any more.
fn check_options(session: &Session, options: &SessionOptions) -> Result<(), CommandError> {
    let mismatch = |option: &str, actual: &str| {
        let message = format!(
            "session {} was created with --{option} `{actual}`; leave --{option} out, or use another session",
            session.id
        );
        Err(CommandError::Usage(message))
    };
    match options {
        SessionOptions { agent: Some(agent), .. } if *agent != session.agent => {
            mismatch("agent", session.agent.as_str())
        }
        SessionOptions { model: Some(model), .. } if Some(model) != session.model.as_ref() => {
            mismatch("model", session.model.as_deref().unwrap_or("the agent's default"))
        }
        SessionOptions { mode: Some(mode), .. } if *mode != session.agent_mode => {
            mismatch("mode", &session.agent_mode)
        }
        SessionOptions { permission_mode: Some(mode), .. } if *mode != session.permission_mode => {
            let actual = serde_json::to_value(session.permission_mode).unwrap_or_default();
            mismatch("permission-mode", actual.as_str().unwrap_or_default())
        }
        SessionOptions { directory: Some(directory), .. } if *directory != session.directory => {
            mismatch("directory", &session.directory)
        }
        _ => Ok(()),
    }
}

async fn create_session(
    client: &Client,
    options: &SessionOptions,
    prefix: &str,
) -> Result<SessionId, CommandError> {
    let invalid = |error: protocol::InvalidId| CommandError::Usage(error.to_string());
    let agent: AgentName = match &options.agent {
        Some(agent) => agent.clone(),
        None => default_agent::find(client).await?,
    };
    let id = match &options.session {
        Some(id) => id.clone(),
        None => format!("{prefix}-{:08x}", uuid::Uuid::new_v4().as_fields().0).parse().map_err(invalid)?,
    };
    install_agent(client, &agent).await;
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
    // Delete the session: its agent never ran, so it contains nothing. Failing to do so is not worth a second error.
    let _ = client.sessions().delete(&id).await;
    let ErrorHelp { problem, remedy } = ErrorHelp::new(&error, &agent);
    Err(CommandError::AgentEnded { how: problem, last_words: remedy.unwrap_or_default() })
}

/// Installs the agent if it is missing, with a progress display. Errors are ignored, because creating the session reports them.
async fn install_agent(client: &Client, agent: &AgentName) {
    let Some(list) = client.agents().list().await.ok().and_then(|list| list.read().ok()) else { return };
    if list.items.iter().any(|known| known.id == *agent && known.installed) {
        return;
    }
    let Ok(mut events) = client.agents().follow_install(agent, &InstallAgentRequest::default()).await else {
        return;
    };
    exit::say(&format!("installing {agent}"));
    let mut progress_bars = progress::InstallProgressBars::default();
    while let Ok(Some(event)) = events.next().await {
        match event {
            InstallEvent::Progress(progress) => progress_bars.show(&progress),
            InstallEvent::Done(..) => break,
        }
    }
    progress_bars.clear();
}

/// Sends a message. After a connection failure it is not known whether the daemon has received it, so it is sent again under
/// the same idempotency key: the daemon accepts it only once.
pub(super) async fn send_message(
    client: &Client,
    id: &SessionId,
    message: String,
    when_busy: WhenBusy,
) -> client::Result<MessageAccepted> {
    let send = SendMessageRequest { message, attachments: Vec::new(), when_busy, author: None };
    let key = uuid::Uuid::new_v4().to_string().parse::<IdempotencyKey>().ok();
    let mut retries = 0;
    let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
    loop {
        match client.sessions().send(id, &send, key.as_ref()).await {
            Err(client::Error::Transport(_)) if retries < RETRIES_MAX => {
                retries += 1;
                backoff.wait().await;
            }
            answer => return answer?.read(),
        }
    }
}
