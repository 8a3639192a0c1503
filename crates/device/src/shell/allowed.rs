//! What a command may do: what its owner lends and what is granted, whichever is the stricter.

use std::time::Duration;

use protocol::relay::{CommandNetwork, RelayError, RequestLimits, ShellGrant, VirtualPath};

use super::{config::RUNTIME_MAX, refusal};

/// What a command may do: each of these must agree.
#[derive(Debug, Clone)]
pub(super) struct Allowed<'a>(Vec<&'a ShellGrant>);

impl<'a> Allowed<'a> {
    /// What is left of what is lent under these terms.
    pub(super) fn new(lends: &'a ShellGrant, terms: Option<&'a RequestLimits>) -> Result<Self, RelayError> {
        let granted = match terms {
            None => None,
            Some(terms) => Some(terms.shell.as_ref().ok_or_else(|| {
                refusal::denied(
                    "commands are not granted; ask a hub administrator for a grant that includes `shell`",
                )
            })?),
        };
        Ok(Self(std::iter::once(lends).chain(granted).collect()))
    }

    /// Whether a command may run there.
    pub(super) fn cwd(&self, path: &VirtualPath) -> bool {
        let within = |places: &Vec<VirtualPath>| places.iter().any(|place| place.below(path).is_some());
        self.0.iter().all(|grant| grant.cwd.as_ref().is_none_or(within))
    }

    /// Whether a command may have this variable.
    pub(super) fn variable(&self, name: &str) -> bool {
        self.0.iter().all(|grant| grant.env.iter().any(|allowed| allowed == name))
    }

    /// Whether it reaches the network.
    pub(super) fn network(&self) -> CommandNetwork {
        self.0.iter().map(|grant| grant.network).min().unwrap_or_default()
    }

    /// How long it may take, if so long is asked for.
    pub(super) fn runtime(&self, asked_ms: Option<u64>) -> Duration {
        let granted = self.0.iter().filter_map(|grant| grant.runtime_max_ms);
        let shortest = granted.chain(asked_ms).min().map(Duration::from_millis);
        shortest.unwrap_or(RUNTIME_MAX).min(RUNTIME_MAX)
    }

    /// How much it may write, if so much is asked for.
    pub(super) fn output(&self, asked: Option<u64>) -> Option<u64> {
        self.0.iter().filter_map(|grant| grant.output_limit_bytes).chain(asked).min()
    }

    /// Whether it may run without a sandbox.
    pub(super) fn unsandboxed(&self) -> bool {
        self.0.iter().all(|grant| grant.unsandboxed)
    }
}
