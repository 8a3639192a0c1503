//! Creating a session: check the request, store it, and start the agent.

use std::sync::Arc;

use journal::{Retention, durable};
use protocol::{
    SessionId,
    sessions::{AgentError, CreateSessionRequest, SessionCreated, SessionSnapshot, SessionState},
};

use super::{Inner, Sessions};
use crate::{
    Error,
    launcher::AgentStart,
    probe::probe,
    session_entry::{SessionEntry, SessionParameters},
    session_handle::SessionHandle,
    session_secrets::SessionSecrets,
    session_store::SessionStore,
    stored_session::StoredSession,
    worker_command::WorkerCommand,
};

impl Sessions {
    /// Creates a session unless the same request has created it before, and starts its agent.
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
        let handle = match entry.handle.get_or_try_init(|| self.store_new(store, id, &wanted)).await {
            Ok(handle) => handle,
            Err(error) => {
                store.remove(&entry);
                return Err(error);
            }
        };
        if let Some(token) = token {
            *handle.token.lock() = Some(token.trim().into());
        }
        let created = self.send_command(&entry, WorkerCommand::StartAgent).await?;
        if let (true, Some(AgentError::Unsupported { message, .. })) = (is_new, &created.error) {
            // Such a session could never be used, and its id could not be used for another.
            self.delete_entry(store, &entry).await?;
            return Err(Error::NotOffered { agent: wanted.options.agent, message: message.clone() });
        }
        if created.healthy && validate {
            Ok(self.validated(id, &wanted, handle, created).await)
        } else {
            Ok(created)
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
        handle: &SessionHandle,
        created: SessionCreated,
    ) -> SessionCreated {
        let directory = self.inner.launcher.private_directory(id).join("probe");
        // If this fails, starting the agent in it fails too and reports the cause.
        let _ = tokio::fs::create_dir_all(&directory).await;
        let start = AgentStart {
            options: parameters.options.clone(),
            secrets: SessionSecrets { env: parameters.secrets.env.clone(), ..SessionSecrets::default() },
            token: handle.token.lock().clone(),
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
        let is_invalid = |name: &String, value: &String| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        };
        match secrets.env.iter().find(|(name, value)| is_invalid(name, value)) {
            Some((name, _)) => Err(Error::Variable(name.clone())),
            None => Ok(()),
        }
    }

    async fn store_new(
        &self,
        store: &SessionStore,
        id: &SessionId,
        parameters: &SessionParameters,
    ) -> Result<Arc<SessionHandle>, Error> {
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
        let Inner { launcher, open_waits, .. } = &*self.inner;
        Ok(SessionHandle::new(id.clone(), journal, &stored, secrets, &launcher.installer, open_waits))
    }
}
