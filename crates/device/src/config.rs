//! What an owner lends, as they say it: on the command line or in `device.toml`.

mod file;
mod lend;

use std::path::PathBuf;

use protocol::relay::{ClientId, CommandNetwork, Root};
use serde::Deserialize;

use crate::Rules;

pub use file::InvalidConfig;
pub use lend::{InvalidRoot, Places};

/// What an owner lends, and on which terms. What is not said is not lent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceConfig {
    /// Where the hub is.
    pub hub: Option<String>,
    /// Which device this is.
    pub client_id: Option<ClientId>,
    /// What its owner calls it.
    pub label: Option<String>,
    /// Directories.
    pub roots: Vec<LentRoot>,
    /// Commands.
    pub shell: Option<ShellConfig>,
    /// The file that says which tools there are.
    pub tools: Option<PathBuf>,
    /// Whether programs of this machine may offer tools while it is lent.
    pub tool_socket: bool,
    /// What the owner wants to be asked about.
    pub rules: Rules,
}

/// A directory that is lent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LentRoot {
    /// What others know of it.
    pub root: Root,
    /// Where it is.
    pub directory: PathBuf,
}

/// How commands are run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellConfig {
    /// Whether they may run without a sandbox if there is none. Otherwise there are no commands then.
    #[serde(default)]
    pub unsandboxed: bool,
    /// The variables of the environment that they may have.
    #[serde(default)]
    pub env: Vec<String>,
    /// What they may reach.
    #[serde(default)]
    pub network: CommandNetwork,
    /// Whether `network` was given as `full`, which used to mean `host` and is read as `proxy`.
    #[serde(skip)]
    pub network_was_full: bool,
    /// How long each may take, in milliseconds.
    pub runtime_max_ms: Option<u64>,
    /// How much each may write, in bytes.
    pub output_limit_bytes: Option<u64>,
    /// What becomes of commands when the connection is lost.
    #[serde(default)]
    pub on_disconnect: WhenLost,
}

/// What becomes of commands when the connection is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenLost {
    /// They are ended.
    #[default]
    Kill,
    /// They go on, and can be asked about later.
    Keep,
}

#[cfg(test)]
mod tests;
