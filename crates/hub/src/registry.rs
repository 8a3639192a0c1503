//! The runtimes that the hub knows.

mod identity;
mod named;
mod registered;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hub_access::{NewToken, json_file, token_digest};
use jiff::Timestamp;
use parking_lot::RwLock;
use protocol::{RuntimeId, WorkspaceName};
use tokio::sync::watch;

use crate::{Runtime, metrics, runtime::Joined};
use registered::{Entry, Way};

pub(crate) use identity::Identity;
pub use registered::Registered;

/// What a token that lets a daemon join begins with.
const PREFIX: &str = "tombolo_join_";

/// Names that routes have beside those of runtimes.
const RESERVED: [&str; 1] = ["join-tokens"];

type All = BTreeMap<RuntimeId, Registered>;

/// The runtimes that the hub knows. What it was told is in a file that only its owner can read.
pub struct Registry {
    path: PathBuf,
    silence_max: Duration,
    all: RwLock<All>,
    /// How often that has changed.
    changes: watch::Sender<u64>,
}

/// Why the registry cannot be used, or not so.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The file cannot be read or written.
    #[error("could not {doing} the registered runtimes")]
    File {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The file in which runtimes are named cannot be read.
    #[error("could not read the runtimes file `{}`", path.display())]
    Names {
        /// Which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is one of that name.
    #[error("runtime `{0}` already exists; choose another name, or remove it first")]
    Taken(RuntimeId),
    /// It can only be removed where it is named.
    #[error("runtime `{0}` is defined in the hub's runtimes file; remove it there")]
    Named(RuntimeId),
    /// What is said of the runtime cannot be used.
    #[error("runtime `{id}`: {reason}")]
    Invalid {
        /// The runtime.
        id: RuntimeId,
        /// Why.
        reason: String,
    },
}

/// Why a daemon may not join.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JoinError {
    #[error("the join token is unknown")]
    UnknownToken,
    #[error(
        "the join token of runtime `{0}` belongs to another daemon; remove the runtime, invite it again and use the new token"
    )]
    AnotherDaemon(RuntimeId),
    #[error("the join token of runtime `{0}` has expired; remove the runtime and invite it again")]
    Expired(RuntimeId),
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl Registry {
    /// Reads the file, if there is one. A runtime that is silent for so long is taken for lost.
    ///
    /// # Errors
    /// If it cannot be read, or a runtime in it cannot be used.
    pub fn open(path: PathBuf, silence_max: Duration) -> Result<Self, RegistryError> {
        let entries: Vec<Entry> =
            json_file::read(&path).map_err(|source| RegistryError::File { doing: "read", source })?;
        let mut all = BTreeMap::new();
        for entry in entries {
            all.insert(entry.id.clone(), Registered::told(entry, silence_max)?);
        }
        Ok(Self { path, silence_max, all: RwLock::new(all), changes: watch::Sender::new(0) })
    }

    /// All names, in order.
    pub fn list(&self) -> Vec<(RuntimeId, Registered)> {
        self.all.read().iter().map(|(id, registered)| (id.clone(), registered.clone())).collect()
    }

    /// Changes whenever a runtime comes or goes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The runtime of that name.
    pub fn get(&self, id: &RuntimeId) -> Option<Registered> {
        self.all.read().get(id).cloned()
    }

    /// Adds a runtime to a workspace, and writes that down.
    ///
    /// # Errors
    /// If the name is taken, what is said cannot be used, or the file cannot be written.
    pub fn add(
        &self,
        (id, workspace): (RuntimeId, WorkspaceName),
        endpoint: &str,
        token: Option<&str>,
    ) -> Result<Registered, RegistryError> {
        let way = Way::Remote { endpoint: endpoint.to_owned(), token: token.map(str::to_owned) };
        let registered = Registered::told(Entry::new(id.clone(), workspace, way), self.silence_max)?;
        self.insert(id, registered.clone())?;
        Ok(registered)
    }

    /// Adds a runtime that is to come by itself, and writes that down: what lets it, and nothing else.
    ///
    /// # Errors
    /// If the name is taken or cannot be used, or the file cannot be written.
    pub fn invite(
        &self,
        id: RuntimeId,
        workspace: WorkspaceName,
        expires_at: Timestamp,
    ) -> Result<NewToken, RegistryError> {
        let token = NewToken::mint(PREFIX)
            .map_err(|source| RegistryError::File { doing: "create a token for", source })?;
        let way =
            Way::Joined { join_digest: token.digest(), daemon_digest: None, expires_at: Some(expires_at) };
        let entry = Entry::new(id.clone(), workspace, way);
        self.insert(id, Registered::told(entry, self.silence_max)?)?;
        Ok(token)
    }

    /// Adds a runtime that is there as long as this process is; it is not written down.
    ///
    /// # Errors
    /// If the name is taken or cannot be used.
    pub fn attach(&self, id: RuntimeId, runtime: Arc<dyn Runtime>) -> Result<(), RegistryError> {
        let registered = Registered::here(&id, runtime);
        self.insert(id, registered)
    }

    /// Knows the runtimes that the file names from now on, and no longer those that it named before; which of these
    /// are gone, or are another now. Those that are named as before stay as they are.
    ///
    /// # Errors
    /// If the file cannot be read, or what it says cannot be used; then nothing has changed.
    pub fn name(&self, file: &Path) -> Result<Vec<RuntimeId>, RegistryError> {
        let entries =
            named::read(file).map_err(|source| RegistryError::Names { path: file.to_path_buf(), source })?;
        let mut all = self.all.write();
        let (mut before, mut next): (All, All) =
            all.clone().into_iter().partition(|(_, registered)| registered.is_named());
        for entry in entries {
            let id = entry.id.clone();
            let registered = match before.remove(&id) {
                Some(same) if same.is_named_so(&entry) => same,
                other => {
                    before.extend(other.map(|other| (id.clone(), other)));
                    Registered::named(entry, self.silence_max)?
                }
            };
            place(&mut next, id, registered)?;
        }
        *all = next;
        self.changes.send_modify(|count| *count += 1);
        Ok(before.into_keys().collect())
    }

    /// The runtime that a daemon joins with this token. The first daemon that uses a token is the only one that may.
    pub(crate) fn joining(
        &self,
        token: &str,
        daemon_id: &str,
    ) -> Result<(RuntimeId, Arc<Joined>), JoinError> {
        let (token, daemon) = (token_digest(token), token_digest(daemon_id));
        let mut all = self.all.write();
        let found = all.iter().find_map(|(id, registered)| match &registered.kept()?.way {
            Way::Joined { join_digest, daemon_digest, expires_at } if *join_digest == token => {
                Some((id.clone(), registered.clone(), daemon_digest.clone(), *expires_at))
            }
            _ => None,
        });
        let (id, registered, bound, expires_at) = found.ok_or(JoinError::UnknownToken)?;
        let joined = registered.joined.clone().ok_or(JoinError::UnknownToken)?;
        match bound {
            Some(bound) if bound == daemon => {}
            Some(_) => return Err(JoinError::AnotherDaemon(id)),
            None if expires_at.is_some_and(|at| at <= Timestamp::now()) => {
                return Err(JoinError::Expired(id));
            }
            None => {
                let mut next = all.clone();
                next.insert(id.clone(), registered.bound_to(daemon));
                self.write(&next)?;
                *all = next;
            }
        }
        Ok((id, joined))
    }

    /// Ends the tunnels of those that came by themselves.
    pub(crate) fn shutdown(&self) {
        self.all.read().values().filter_map(|registered| registered.joined.as_ref()).for_each(|j| j.end());
    }

    fn insert(&self, id: RuntimeId, registered: Registered) -> Result<(), RegistryError> {
        let mut all = self.all.write();
        let kept = registered.kept().is_some();
        let mut next = all.clone();
        place(&mut next, id, registered)?;
        if kept {
            self.write(&next)?;
        }
        *all = next;
        self.changes.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Removes a runtime, and writes that down; whether there was one. A tunnel to it ends, and no other can be made.
    ///
    /// # Errors
    /// If it is named elsewhere, or the file cannot be written.
    pub fn remove(&self, id: &RuntimeId) -> Result<bool, RegistryError> {
        let mut all = self.all.write();
        let mut next = all.clone();
        let Some(removed) = next.remove(id) else { return Ok(false) };
        if removed.is_named() {
            return Err(RegistryError::Named(id.clone()));
        }
        self.write(&next)?;
        *all = next;
        self.changes.send_modify(|count| *count += 1);
        if let Some(joined) = removed.joined {
            joined.end();
        }
        Ok(true)
    }

    /// Tells how many runtimes there are.
    pub(crate) fn register(&self, registry: &mut prometheus_client::registry::Registry) {
        let all = self.all.read();
        metrics::register_runtimes(registry, all.values().map(|it| (it.kind, it.state())));
    }

    fn write(&self, all: &All) -> Result<(), RegistryError> {
        let entries: Vec<&Entry> = all.values().filter_map(Registered::kept).collect();
        json_file::write(&self.path, &entries)
            .map_err(|source| RegistryError::File { doing: "write", source })
    }
}

/// Puts a runtime among the others, if its name is free.
fn place(all: &mut All, id: RuntimeId, registered: Registered) -> Result<(), RegistryError> {
    if RESERVED.contains(&id.as_str()) {
        return Err(RegistryError::Invalid { id, reason: "the name is reserved".into() });
    }
    if all.contains_key(&id) {
        return Err(RegistryError::Taken(id));
    }
    all.insert(id, registered);
    Ok(())
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.all.read().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_join_token_is_for_the_first_daemon_and_expires_only_before_that() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runtimes.json");
        let open = || Registry::open(path.clone(), Duration::from_secs(60)).unwrap();
        let (registry, now) = (open(), Timestamp::now());
        let invite = |id: &str, expires_at| {
            registry.invite(id.parse().unwrap(), WorkspaceName::default(), expires_at).unwrap()
        };
        let late = invite("late", now - Duration::from_secs(1));
        assert!(matches!(registry.joining(late.expose_secret(), "a"), Err(JoinError::Expired(_))));
        assert!(matches!(registry.joining("tombolo_join_other", "a"), Err(JoinError::UnknownToken)));
        let token = invite("box", now + Duration::from_secs(3600));
        registry.joining(token.expose_secret(), "a").unwrap();
        // The hub remembers the daemon when it starts again.
        for registry in [registry, open()] {
            assert!(matches!(registry.joining(token.expose_secret(), "b"), Err(JoinError::AnotherDaemon(_))));
            registry.joining(token.expose_secret(), "a").unwrap();
        }
    }

    /// A file of before there were workspaces is read, and a workspace is kept.
    #[test]
    fn a_workspace_is_kept_and_may_be_missing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runtimes.json");
        let old = r#"[{ "id": "old", "endpoint": "http://127.0.0.1:9", "addedAt": "2026-01-01T00:00:00Z" }]"#;
        std::fs::write(&path, old).unwrap();
        let (new, lab) = ("new".parse().unwrap(), "lab".parse().unwrap());
        let open = || Registry::open(path.clone(), Duration::from_secs(60)).unwrap();
        open().add((new, lab), "http://127.0.0.1:9", None).unwrap();
        let list = open().list();
        let workspaces: Vec<_> = list.iter().map(|(_, registered)| registered.workspace.as_str()).collect();
        assert_eq!(workspaces, ["lab", "default"]);
    }

    /// A file that is read again changes what it names, and nothing else; one that is no good changes nothing.
    #[test]
    fn what_a_file_names_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let [kept, file] = ["runtimes.json", "names.json"].map(|name| directory.path().join(name));
        std::fs::write(directory.path().join("token"), "a-token-of-the-daemon\n").unwrap();
        let registry = Registry::open(kept.clone(), Duration::from_secs(60)).unwrap();
        registry
            .add(("told".parse().unwrap(), WorkspaceName::default()), "http://127.0.0.1:9", None)
            .unwrap();
        let name = |text: &str| {
            std::fs::write(&file, text).unwrap();
            registry.name(&file).map(|gone| gone.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let ids = || registry.list().into_iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>();
        let runtime = |id: &str| registry.get(&id.parse().unwrap()).unwrap().runtime;

        let (a, b) = (
            r#"{ "id": "a", "endpoint": "http://127.0.0.1:1", "tokenFile": "token" }"#,
            r#"{ "id": "b", "endpoint": "http://127.0.0.1:2", "workspace": "lab" }"#,
        );
        assert_eq!(name(&format!("[{a}, {b}]")).unwrap(), [""; 0]);
        let (first, second) = (runtime("a"), runtime("b"));
        assert_eq!(name(&format!("[{b}, {}]", a.replace(":1", ":3"))).unwrap(), ["a"]);
        assert!(!Arc::ptr_eq(&first, &runtime("a")) && Arc::ptr_eq(&second, &runtime("b")));
        for bad in [
            "{",
            &format!("[{a}, {a}]"),
            &a.replace("\"a\"", "\"told\"").replace('{', "[{").replace('}', "}]"),
            r#"[{ "id": "c", "endpoint": "nowhere" }]"#,
            r#"[{ "id": "c", "endpoint": "http://127.0.0.1:1", "tokenFile": "none" }]"#,
            r#"[{ "id": "c", "endpoint": "http://127.0.0.1:1", "token": "secret" }]"#,
            r#"[{ "id": "join-tokens", "endpoint": "http://127.0.0.1:1" }]"#,
        ] {
            assert!(name(bad).is_err(), "{bad}");
            assert_eq!(ids(), ["a", "b", "told"]);
        }
        assert!(matches!(registry.remove(&"a".parse().unwrap()), Err(RegistryError::Named(_))));
        assert_eq!(name(&format!("[{b}]")).unwrap(), ["a"]);
        // Only what the hub was told is written down.
        let written = std::fs::read_to_string(kept).unwrap();
        assert!(written.contains("told") && !written.contains("127.0.0.1:2"), "{written}");
    }
}
