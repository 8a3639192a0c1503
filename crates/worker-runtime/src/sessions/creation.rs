//! Creating a session: check the request, store it, and start the agent.

use std::sync::Arc;

use journal::{Retention, durable};
use protocol::{
    SessionId,
    sessions::{AgentError, CreateSessionRequest, SessionCreated, SessionSnapshot, SessionState},
};
use secrecy::ExposeSecret;

use super::Sessions;
use crate::{
    Error,
    kept::{SESSION, note},
    launch,
    probe::probe,
    session_secrets::SessionSecrets,
    shared::Shared,
    shelf::{Entry, Shelf},
    worker::{Msg, first},
};

impl Sessions {
    /// Creates a session, or finds it, and has its agent running.
    pub async fn create(
        &self,
        id: &SessionId,
        create: CreateSessionRequest,
    ) -> Result<SessionCreated, Error> {
        let shelf = self.shelf().await?;
        let (token, validate) = (create.token.clone(), create.validate_token);
        let wanted = CreateSessionRequest { token: None, validate_token: false, ..create };
        let known = shelf.get(id);
        let is_replaced = match &known {
            Some(entry) if entry.create != wanted => self.never_worked(id).await,
            _ => false,
        };
        let (entry, is_new) = match known.filter(|_| !is_replaced) {
            Some(entry) => (entry, false),
            None => {
                self.check(shelf, &wanted).await?;
                if is_replaced {
                    self.delete(id).await?;
                }
                // Another request may have created the session meanwhile; then this request is about that one.
                let new = || Arc::new(Entry::new(id.clone(), wanted.clone(), shelf.thread.handle()));
                (shelf.sessions.write().entry(id.clone()).or_insert_with(new).clone(), true)
            }
        };
        if entry.create != wanted {
            return Err(Error::Conflict(id.clone()));
        }
        let shared = match entry.shared.get_or_try_init(|| self.write_down(shelf, id, &wanted)).await {
            Ok(shared) => shared,
            Err(error) => {
                shelf.forget(&entry);
                return Err(error);
            }
        };
        if let Some(token) = token {
            *shared.token.lock() = Some(token.trim().into());
        }
        let created = self.ask(&entry, Msg::Wake).await?;
        if let (true, Some(AgentError::Unsupported { message, .. })) = (is_new, &created.error) {
            // Such a session could never be used, and its id could not be used for another.
            self.delete_entry(shelf, &entry).await?;
            return Err(Error::NotOffered { agent: wanted.agent, message: message.clone() });
        }
        match created.healthy && validate {
            true => Ok(self.validated(id, &wanted, shared, created).await),
            false => Ok(created),
        }
    }

    /// Whether the agent of this session could not be started and the session has no messages. Nothing of it is worth keeping,
    /// and a request with other options replaces it.
    async fn never_worked(&self, id: &SessionId) -> bool {
        let Ok(snapshot) = self.snapshot(id).await else { return false };
        let SessionSnapshot { session, messages, inputs, .. } = snapshot;
        session.error.is_some()
            && session.state == SessionState::Dormant
            && messages.is_empty()
            && inputs.is_empty()
    }

    /// Checks whether the agent can use its model, in a directory of its own.
    async fn validated(
        &self,
        id: &SessionId,
        create: &CreateSessionRequest,
        shared: &Shared,
        created: SessionCreated,
    ) -> SessionCreated {
        let directory = self.inner.launcher.private(id).join("probe");
        // If this fails, starting the agent in it fails too and reports the cause.
        let _ = tokio::fs::create_dir_all(&directory).await;
        let token = shared.token.lock().as_ref().map(|token| token.expose_secret().to_owned());
        let start = launch::Start {
            create: CreateSessionRequest {
                token,
                mcp: Default::default(),
                skills: Default::default(),
                ..create.clone()
            },
            private: directory.join("private"),
            directory,
            run: "probe".into(),
            resume: None,
            asks_models: false,
        };
        match probe(&self.inner.launcher, start).await {
            Ok(()) => created,
            Err(error) => SessionCreated { healthy: false, error: Some(error), ..created },
        }
    }

    /// Checks that a session with these options can exist.
    async fn check(&self, shelf: &Shelf, create: &CreateSessionRequest) -> Result<(), Error> {
        let count = shelf.sessions.read().len();
        if count >= self.inner.launcher.config.sessions_max {
            return Err(Error::TooMany(count));
        }
        self.inner.launcher.installer.find_agent(&create.agent).await?;
        self.directory(create.directory.as_deref())?;
        let impossible = |name: &String, value: &String| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        };
        match create.env.iter().find(|(name, value)| impossible(name, value)) {
            Some((name, _)) => Err(Error::Variable(name.clone())),
            None => Ok(()),
        }
    }

    async fn write_down(
        &self,
        shelf: &Shelf,
        id: &SessionId,
        create: &CreateSessionRequest,
    ) -> Result<Arc<Shared>, Error> {
        if shelf.store.is_low() {
            return Err(durable::Error::Low.into());
        }
        let mut create = create.clone();
        let secrets = SessionSecrets::take(&mut create);
        let directory = self.directory(create.directory.as_deref())?;
        let kept = first(create, !secrets.is_empty(), directory);
        // Written before the record that refers to it, so that a crash in between leaves no session without its secrets.
        if kept.has_secrets {
            self.inner.launcher.write_secrets(id, secrets.clone()).await?;
        }
        let journal = shelf.store.journal(id.as_str(), Retention::UNLIMITED).await?;
        journal.append_with_records(Default::default(), vec![note(SESSION, "", &kept)]).await?;
        let services = (&self.inner.launcher.installer, &self.inner.board);
        Ok(Shared::new(id.clone(), journal, &kept, secrets, services))
    }
}
