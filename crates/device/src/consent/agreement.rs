//! What the owner of a device agrees to for more than once.

use protocol::relay::{RawJson, RelayContext, RootId, ToolName, VirtualPath, shell::StartCommand};
use sha2::{Digest, Sha256};

/// What the owner agrees to for more than once: this, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Agreement {
    /// What is asked.
    pub method: &'static str,
    /// What it uses.
    pub subject: Subject,
    /// The workspace that it is asked for.
    pub workspace: Option<String>,
    /// The run, if it is for one only.
    pub run: Option<Run>,
}

/// What a request uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// What is in a root.
    Root(RootId),
    /// A command.
    Command {
        /// Where it runs.
        at: VirtualPath,
        /// Of what is run, where, with which variables and how.
        sha256: protocol::relay::Sha256,
    },
    /// A tool, as it is now.
    Tool {
        /// Its name.
        name: ToolName,
        /// Of all that its owner would want to know of it.
        fingerprint: String,
    },
}

/// For how long an agreement is, where it is not for longer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Run {
    /// A run.
    Run(String),
    /// A session, of those who do not tell their runs apart.
    Session(String),
}

impl Subject {
    /// A command that is asked for like this and would run there.
    pub(crate) fn command(asked: &StartCommand, at: &VirtualPath) -> Self {
        // How long it may take and how much it may write does not make it another.
        let shown = StartCommand {
            cwd: Some(at.clone()),
            timeout_ms: None,
            output_limit_bytes: None,
            ..asked.clone()
        };
        let hash = <[u8; 32]>::from(Sha256::digest(RawJson::from_value(&shown).as_str()));
        Self::Command { at: at.clone(), sha256: hash.into() }
    }
}

impl Run {
    pub(super) fn of(context: &RelayContext) -> Option<Self> {
        let run = context.run_id.clone().map(Self::Run);
        run.or_else(|| context.session_id.clone().map(Self::Session))
    }
}
