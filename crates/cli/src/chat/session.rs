//! Opens the session of a chat, new or existing, and sends messages to it.

use std::{path::Path, time::Duration};

use backoff::Backoff;
use client::{Client, Endpoint, InstallEvent};
use protocol::{
    AgentName, IdempotencyKey, ProblemKind, SessionId,
    agents::InstallAgentRequest,
    sessions::{
        CreateSessionRequest, MessageAccepted, SendMessageRequest, Session, SessionSnapshot, WhenBusy,
    },
};

use super::{
    default_agent,
    session_options::SessionOptions,
    session_view::ErrorHelp,
    working_directory::{self, WorkingDirectory},
};
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
            check_options(&session, options, client.endpoint())?;
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
fn check_options(session: &Session, options: &SessionOptions, daemon: &Endpoint) -> Result<(), CommandError> {
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
        SessionOptions { directory: Some(directory), .. }
            if !is_same_directory(&working_directory::resolve(directory, daemon)?, &session.directory) =>
        {
            mismatch("directory", &session.directory)
        }
        _ => Ok(()),
    }
}

/// Whether a session works in this directory. A hub may show the end of its path only.
fn is_same_directory(directory: &str, shown: &str) -> bool {
    let is_whole = Path::new(shown).is_absolute();
    directory == shown || !is_whole && (shown == "." || Path::new(directory).ends_with(shown))
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
    let directory = WorkingDirectory::choose(options.directory.as_deref(), client.endpoint())?;
    install_agent(client, &agent).await;
    let mut create = CreateSessionRequest {
        agent: agent.clone(),
        agent_mode: options.mode.clone().unwrap_or_else(|| "build".into()),
        permission_mode: options.permission_mode.unwrap_or_default(),
        model: options.model.clone(),
        variant: options.variant.clone(),
        token: None,
        validate_token: false,
        agent_version: None,
        directory: directory.path,
        env: Default::default(),
        mcp: Default::default(),
        skills: Default::default(),
        title: None,
    };
    let mut created = client.sessions().create(&id, &create).await;
    if directory.is_guess
        && created.as_ref().err().and_then(client::Error::kind) == Some(ProblemKind::InvalidRequest)
    {
        // The daemon has other files, for example in a container whose port is published here.
        create.directory = None;
        created = client.sessions().create(&id, &create).await;
    }
    let created = created?.read()?;
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

/// A message that the daemon has not confirmed yet. It may be sent again: the daemon accepts it once.
#[derive(Debug)]
pub(super) struct UnconfirmedMessage {
    request: SendMessageRequest,
    key: Option<IdempotencyKey>,
}

impl UnconfirmedMessage {
    pub(super) fn new(message: String, when_busy: WhenBusy) -> Self {
        let request = SendMessageRequest { message, attachments: Vec::new(), when_busy, author: None };
        Self { request, key: uuid::Uuid::new_v4().to_string().parse().ok() }
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.request.message
    }

    /// How the daemon treats it while a turn runs.
    pub(super) fn when_busy(&self) -> WhenBusy {
        self.request.when_busy
    }

    /// Sends it once.
    pub(super) async fn send(&self, client: &Client, id: &SessionId) -> client::Result<MessageAccepted> {
        client.sessions().send(id, &self.request, self.key.as_ref()).await?.read()
    }

    /// Sends it, and again after connection failures. It is not known whether the daemon received it then.
    pub(super) async fn send_with_retries(
        &self,
        client: &Client,
        id: &SessionId,
    ) -> client::Result<MessageAccepted> {
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
        for _ in 0..RETRIES_MAX {
            match self.send(client, id).await {
                Err(client::Error::Transport(_)) => backoff.wait().await,
                answer => return answer,
            }
        }
        self.send(client, id).await
    }
}
