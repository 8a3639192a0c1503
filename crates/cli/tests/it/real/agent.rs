//! One row of the table: an agent, and what a test must know to drive it.

use testkit::agent_setup;

use crate::agent_stage::ConfigureAgent;

/// An agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) name: &'static str,
    /// What it needs to find the model.
    pub(super) home: ConfigureAgent,
    /// The mode in which the user is asked, where that is not the one that it starts in.
    pub(super) asking_mode: Option<&'static str>,
    /// A mode that it does not start in.
    pub(super) other_mode: &'static str,
    /// A model that it does not start with, and what the model's server sees of it.
    pub(super) other_model: Option<OtherModel>,
    /// Whether what it says is told piece by piece.
    pub(super) streams: bool,
    /// Whether a session can be loaded only in a later minute than it was made in: the names of its files hold no more
    /// of the time, and gemini overwrites the one with the other.
    pub(super) loads_next_minute: bool,
}

/// How a model is chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct OtherModel {
    pub(super) method: ModelMethod,
    /// As the agent calls it.
    pub(super) id: &'static str,
    /// A part of the name that it has in requests.
    pub(super) seen: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ModelMethod {
    /// `session/set_config_option`
    ConfigOption,
    /// `session/set_model`
    SetModel,
}

pub(super) const CLAUDE: Agent = Agent {
    name: "claude",
    home: agent_setup::claude,
    asking_mode: None,
    other_mode: "acceptEdits",
    other_model: Some(OtherModel { method: ModelMethod::ConfigOption, id: "haiku", seen: "haiku" }),
    streams: true,
    loads_next_minute: false,
};

pub(super) const CODEX: Agent = Agent {
    name: "codex",
    home: agent_setup::codex,
    // In the mode that it starts in, a model decides.
    asking_mode: Some("workspace-write"),
    other_mode: "read-only",
    other_model: Some(OtherModel { method: ModelMethod::SetModel, id: "gpt-5.5[xhigh]", seen: "xhigh" }),
    streams: true,
    loads_next_minute: false,
};

pub(super) const OPENCODE: Agent = Agent {
    name: "opencode",
    home: agent_setup::opencode,
    asking_mode: None,
    other_mode: "plan",
    other_model: Some(OtherModel {
        method: ModelMethod::ConfigOption,
        id: "scripted/scripted-2",
        seen: "scripted-2",
    }),
    streams: true,
    loads_next_minute: false,
};

pub(super) const GEMINI: Agent = Agent {
    name: "gemini",
    home: agent_setup::gemini,
    asking_mode: None,
    other_mode: "autoEdit",
    other_model: Some(OtherModel {
        method: ModelMethod::SetModel,
        id: "gemini-3.5-flash-lite",
        seen: "gemini-3.5-flash-lite",
    }),
    streams: true,
    loads_next_minute: true,
};

pub(super) const PI: Agent = Agent {
    name: "pi",
    home: agent_setup::pi,
    asking_mode: None,
    other_mode: "low",
    other_model: Some(OtherModel {
        method: ModelMethod::ConfigOption,
        id: "scripted/scripted-2",
        seen: "scripted-2",
    }),
    streams: true,
    loads_next_minute: false,
};

pub(super) const AMP: Agent = Agent {
    name: "amp",
    home: agent_setup::amp,
    asking_mode: None,
    other_mode: "bypass",
    other_model: None,
    streams: false,
    loads_next_minute: false,
};

/// Every agent of the table.
pub(super) const ALL: [&Agent; 6] = [&AMP, &CLAUDE, &CODEX, &GEMINI, &OPENCODE, &PI];
