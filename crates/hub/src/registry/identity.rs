//! Which runtime it is that has a name.

use jiff::Timestamp;
use protocol::WorkspaceName;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::registered::Way;

/// Identifies a runtime beyond its name: grants and environments of one runtime must not pass to another that later takes
/// the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Identity {
    /// The one in this process.
    Process,
    /// The one that somebody told the hub of at this time.
    Added(Timestamp),
    /// The one that the file of whoever runs the hub names just so: a digest of what it says.
    Named(String),
}

impl Identity {
    pub(super) fn named(workspace: &WorkspaceName, way: &Way) -> Self {
        let (endpoint, token) = match way {
            Way::Remote { endpoint, token } => (endpoint.as_str(), token.as_deref().unwrap_or_default()),
            // A file names none that comes by itself.
            Way::Joined { join_digest, .. } => (join_digest.as_str(), ""),
        };
        let mut digest = Sha256::new();
        for said in [workspace.as_str(), endpoint, token] {
            // What one says does not go on in the next.
            digest.update((said.len() as u64).to_be_bytes());
            digest.update(said);
        }
        Self::Named(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Whether this runtime is gone for good, if `now` has its name. What a file names and what is in a process may come back.
    pub(crate) fn is_gone(&self, now: Option<&Self>) -> bool {
        match now {
            Some(now) => now != self,
            None => matches!(self, Self::Added(_)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_of_a_runtime_is_which_it_is() {
        let named = |workspace: &str, endpoint: &str, token: Option<&str>| {
            let way = Way::Remote { endpoint: endpoint.into(), token: token.map(str::to_owned) };
            Identity::named(&workspace.parse().unwrap(), &way)
        };
        let one = named("lab", "http://a", Some("t"));
        assert_eq!(one, named("lab", "http://a", Some("t")));
        for other in [
            named("default", "http://a", Some("t")),
            named("lab", "http://b", Some("t")),
            named("lab", "http://a", Some("u")),
            named("lab", "http://a", None),
            named("lab", "http://", Some("at")),
        ] {
            assert!(one != other && one.is_gone(Some(&other)));
        }
        assert!(!one.is_gone(None) && !Identity::Process.is_gone(None));
        let added = Identity::Added(Timestamp::UNIX_EPOCH);
        assert!(added.is_gone(None) && !added.is_gone(Some(&added)));
    }
}
