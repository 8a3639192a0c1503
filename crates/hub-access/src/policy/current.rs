//! The policy in force.

use std::{fs, io, path::PathBuf, sync::Arc};

use parking_lot::RwLock;
use protocol::hub::Role;
use serde::Deserialize;
use server::ErrorChain;
use tokio::sync::watch;
use tracing::{error, info};

use super::{
    AllowEverything, CombinedPolicy, Policy, PolicySubject, RedactionPolicy, SessionRules,
    directory_policy::DirectoryPolicy,
};

/// The policy file.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PolicyFile {
    /// The content that is hidden, by role.
    #[serde(default)]
    redact: RedactionPolicy,
    /// The choices that controllers have when creating sessions, by workspace.
    #[serde(default)]
    controllers: SessionRules,
}

/// The policy in force: a base policy, and the rules of a file if there is one.
pub struct CurrentPolicy {
    base: Arc<dyn Policy>,
    file: Option<PathBuf>,
    now: watch::Sender<Arc<dyn Policy>>,
    session_rules: RwLock<Arc<SessionRules>>,
}

/// A policy file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("could not load the policy from `{}`", path.display())]
pub struct PolicyError {
    path: PathBuf,
    source: io::Error,
}

impl CurrentPolicy {
    /// The base policy alone.
    pub fn new(base: Arc<dyn Policy>) -> Self {
        let now = watch::Sender::new(Arc::clone(&base));
        Self { base, file: None, now, session_rules: RwLock::default() }
    }

    /// The base policy and the rules of the file. Without a file, only absolute directories are hidden, except from owners.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn open(base: Arc<dyn Policy>, file: Option<PathBuf>) -> Result<Self, PolicyError> {
        let policies = Self { file, ..Self::new(base) };
        policies.load()?;
        Ok(policies)
    }

    /// Reads the file again, if there is one. It applies at once, also to open streams. If it cannot be used, the previous
    /// policy stays in force.
    pub fn reload(&self) {
        if self.file.is_none() {
            return;
        }
        match self.load() {
            Ok(()) => info!("reloaded the policy"),
            Err(error) => {
                error!(error = %ErrorChain(&error), "could not reload the policy; keeping the previous one")
            }
        }
    }

    fn load(&self) -> Result<(), PolicyError> {
        let read = |path: &PathBuf| Ok(serde_json::from_slice::<PolicyFile>(&fs::read(path)?)?);
        let file = match &self.file {
            None => PolicyFile::default(),
            Some(path) => read(path).map_err(|source| PolicyError { path: path.clone(), source })?,
        };
        let directories = DirectoryPolicy::new(&file.redact, &file.controllers);
        let redaction = CombinedPolicy::new(Arc::new(file.redact), Arc::new(directories));
        *self.session_rules.write() = Arc::new(file.controllers);
        self.set(Arc::new(CombinedPolicy::new(Arc::clone(&self.base), Arc::new(redaction))));
        Ok(())
    }

    /// Replaces the policy, also for open streams.
    pub fn set(&self, policy: Arc<dyn Policy>) {
        self.now.send_replace(policy);
    }

    /// The rules for what a caller may choose when creating a session; `None` for owners, who may choose everything.
    pub fn session_rules_for(&self, subject: &PolicySubject) -> Option<Arc<SessionRules>> {
        let is_owner = subject.role >= Some(Role::Owner);
        (!is_owner).then(|| Arc::clone(&self.session_rules.read()))
    }

    /// The policy in force.
    pub fn now(&self) -> Arc<dyn Policy> {
        Arc::clone(&self.now.borrow())
    }

    /// The policy in force, and a notification whenever it changes.
    pub fn subscribe(&self) -> watch::Receiver<Arc<dyn Policy>> {
        self.now.subscribe()
    }
}

impl Default for CurrentPolicy {
    /// Allows everything and hides nothing.
    fn default() -> Self {
        Self::new(Arc::new(AllowEverything))
    }
}

impl std::fmt::Debug for CurrentPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CurrentPolicy").field("file", &self.file).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cannot be used changes nothing: nobody sees more because of a slip of the pen.
    #[test]
    fn a_file_that_is_no_good_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("policy.json");
        fs::write(&file, r#"{"redact":{}}"#).unwrap();
        let policies = CurrentPolicy::open(Arc::new(AllowEverything), Some(file.clone())).unwrap();
        let held = policies.now();
        fs::write(&file, r#"{"redact":{"viewer":{"thinkin":true}}}"#).unwrap();
        policies.reload();
        assert!(Arc::ptr_eq(&held, &policies.now()));
        fs::write(&file, r#"{"redact":{"viewer":{"thinking":true}}}"#).unwrap();
        policies.reload();
        assert!(!Arc::ptr_eq(&held, &policies.now()));
        assert!(CurrentPolicy::open(Arc::new(AllowEverything), Some(directory.path().join("none"))).is_err());
    }
}
