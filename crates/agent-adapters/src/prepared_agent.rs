//! An adapter together with the process that it needs.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use protocol::{agents::AgentProtocol, sessions::AgentError};

use crate::{Adapter, Options, acp, amp, claude, codex, opencode};

/// An adapter together with the process that it needs.
pub struct Adapted {
    /// The adapter.
    pub adapter: Box<dyn Adapter>,
    /// The connection between adapter and process.
    pub transport: Transport,
    /// Arguments after those of the catalog.
    pub args: Vec<OsString>,
    /// Variables besides those of the catalog.
    pub env: BTreeMap<String, OsString>,
    /// Files to write before the process starts, readable only by its user.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

/// The connection between an adapter and its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// One process for each session, with lines on its standard streams.
    Lines,
    /// One server for many sessions, over HTTP, with one stream of events.
    Server,
}

/// Prepares an agent that speaks `protocol` for a session with `options`.
///
/// # Errors
/// [`AgentError::Unsupported`] for an option that the agent does not have.
pub fn adapt(protocol: AgentProtocol, options: &Options) -> Result<Adapted, AgentError> {
    match protocol {
        AgentProtocol::Acp => acp::adapt(options),
        AgentProtocol::Amp => amp::adapt(options),
        AgentProtocol::Claude => claude::adapt(options),
        AgentProtocol::Codex => codex::adapt(options),
        AgentProtocol::Opencode => opencode::adapt(options),
    }
}
