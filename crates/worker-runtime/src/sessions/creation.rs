//! Creating a session: check the request, store it, and start the agent.

use std::sync::Arc;

use journal::{Retention, durable};
use protocol::{
    SessionId,
    sessions::{AgentError, CreateSessionRequest, SessionCreated, SessionSnapshot, SessionState},
};

use super::Sessions;
use crate::{
    Error, launch,
    probe::probe,
    session_entry::{SessionEntry, SessionParameters},
    session_secrets::SessionSecrets,
    session_store::SessionStore,
    shared::Shared,
    stored_session::StoredSession,
    worker::Msg,
};

impl Sessions {
    /// Creates a session, or finds it, and has its agent running.
    pub async fn create(
        &self,
        id: &SessionId,
        create: CreateSessionRequest,
    ) -> Result<SessionCreated, Error> {
        let store = self.store().await?;
        let (token, validate) = (create.token.clone(), create.validate_token);
        let wanted = SessionParameters::new(&create);
        let known = store.get(id);
        let is_replaced = match &known {
            Some(entry) if *entry.parameters()? != wanted => self.never_worked(id).await,
            _ => false,
        };
        let (entry, is_new) = match known.filter(|_| !is_replaced) {
            Some(entry) => (entry, false),
            None => {
                self.check(store, &wanted).await?;
                if is_replaced {
                    self.delete(id).await?;
                }
                // Another request may have created the session meanwhile; then this request is about that one.
                let new = || Arc::new(SessionEntry::new(id.clone(), wanted.clone(), store.thread.handle()));
                (store.sessions.write().entry(id.clone()).or_insert_with(new).clone(), true)
            }
        };
        if *entry.parameters()? != wanted {
            return Err(Error::Conflict(id.clone()));
        }
        let shared = match entry.handle.get_or_try_init(|| self.write_down(store, id, &wanted)).await {
            Ok(shared) => shared,
            Err(error) => {
                store.remove(&entry);
                return Err(error);
            }
        };
        if let Some(token) = token {
            *shared.token.lock() = Some(token.trim().into());
        }
        let created = self.ask(&entry, Msg::Wake).await?;
        if let (true, Some(AgentError::Unsupported { message, .. })) = (is_new, &created.error) {
            // Such a session could never be used, and its id could not be used for another.
            self.delete_entry(store, &entry).await?;
            return Err(Error::NotOffered { agent: wanted.options.agent, message: message.clone() });
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
        parameters: &SessionParameters,
        shared: &Shared,
        created: SessionCreated,
    ) -> SessionCreated {
        let directory = self.inner.launcher.private(id).join("probe");
        // If this fails, starting the agent in it fails too and reports the cause.
        let _ = tokio::fs::create_dir_all(&directory).await;
        let start = launch::Start {
            options: parameters.options.clone(),
            secrets: SessionSecrets { env: parameters.secrets.env.clone(), ..SessionSecrets::default() },
            token: shared.token.lock().clone(),
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
    async fn check(&self, store: &SessionStore, parameters: &SessionParameters) -> Result<(), Error> {
        let SessionParameters { options, secrets } = parameters;
        let count = store.sessions.read().len();
        if count >= self.inner.launcher.config.sessions_max {
            return Err(Error::TooMany(count));
        }
        self.inner.launcher.installer.find_agent(&options.agent).await?;
        self.directory(options.directory.as_deref())?;
        let impossible = |name: &String, value: &String| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        };
        match secrets.env.iter().find(|(name, value)| impossible(name, value)) {
            Some((name, _)) => Err(Error::Variable(name.clone())),
            None => Ok(()),
        }
    }

    async fn write_down(
        &self,
        store: &SessionStore,
        id: &SessionId,
        parameters: &SessionParameters,
    ) -> Result<Arc<Shared>, Error> {
        if store.journals.is_low() {
            return Err(durable::Error::Low.into());
        }
        let SessionParameters { options, secrets } = parameters.clone();
        let directory = self.directory(options.directory.as_deref())?;
        let stored = StoredSession::new(options, !secrets.is_empty(), directory);
        // Written before the record that refers to it, so that a crash in between leaves no session without its secrets.
        if stored.has_secrets {
            self.inner.launcher.write_secrets(id, secrets.clone()).await?;
        }
        let journal = store.journals.journal(id.as_str(), Retention::UNLIMITED).await?;
        journal.append_with_records(Default::default(), vec![stored.update()]).await?;
        let services = (&self.inner.launcher.installer, &self.inner.board);
        Ok(Shared::new(id.clone(), journal, &stored, secrets, services))
    }
}
