//! Command line options that find or create the session of a conversation.

use std::time::Duration;

use clap::Args;
use protocol::{AgentName, SessionId, sessions::PermissionMode};

use super::lent_device::LentDevice;
use crate::{
    api::permission_mode,
    duration::{self, VALUE_NAME},
};

/// The session of `tombolo chat` and `tombolo run`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Session")]
pub(super) struct SessionOptions {
    /// Start this agent in a new session [default: the agent that is installed and has credentials, if there is only one]
    #[arg(long)]
    pub(super) agent: Option<AgentName>,
    /// Continue this session, or create one with this id [default: a new random id]
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<SessionId>,
    /// Use this model [default: the agent's choice]
    #[arg(long)]
    pub(super) model: Option<String>,
    /// Use this variant of the model, such as its reasoning effort
    #[arg(long)]
    pub(super) variant: Option<String>,
    /// Run the agent in this mode [default: build]
    #[arg(long)]
    pub(super) mode: Option<String>,
    /// Set permissions: default (ask first), plan (read only until you approve a plan) or bypass (never ask)
    #[arg(long, value_name = "MODE", value_parser = permission_mode)]
    pub(super) permission_mode: Option<PermissionMode>,
    /// Work in this directory of the sandbox; a relative path starts at yours, if the daemon is on this machine
    /// [default: your directory if the daemon is on this machine, else the daemon's]
    #[arg(long, short)]
    pub(super) directory: Option<String>,
    /// Let a new session use this device, and only these directories of it; the daemon must be reached
    /// through a hub (--endpoint HUB/api/runtimes/NAME)
    #[arg(long, value_name = "NAME[:ROOT,…]")]
    pub(super) device: Option<LentDevice>,
    /// Keep trying to reach the daemon for this long after the connection was lost
    #[arg(long, value_name = VALUE_NAME, default_value = "2m", value_parser = duration::parse)]
    pub(super) reconnect_timeout: Duration,
}
