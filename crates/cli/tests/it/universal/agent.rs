//! One row of the table: an agent, and what a test must know to drive it.

use testkit::agent_setup;

use crate::agent_stage::ConfigureAgent;

/// An agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) name: &'static str,
    /// What it needs to find the model.
    pub(super) home: ConfigureAgent,
    /// The model of the tests, where the agent's configuration does not say it.
    pub(super) model: Option<&'static str>,
    /// A model that it does not start with, and what the model's server sees of it.
    pub(super) other_model: Option<(&'static str, &'static str)>,
    /// The provider of the tests is one of which it cannot know the models, so it takes any.
    pub(super) takes_any_model: bool,
    /// A variant, and what the model's server sees of it.
    pub(super) variant: Option<(&'static str, &'static str)>,
    /// How its model calls the tool `echo` of the MCP server `everything`, if it can.
    pub(super) mcp_tool: Option<&'static str>,
    /// The name of its process, to be killed.
    pub(super) process: &'static str,
    /// What the model's server is asked when the agent saves what was said, for one that keeps it there.
    pub(super) saves: Option<&'static str>,
    /// How long after a session was made it can be gone on with: see `loads_next_minute` of the other suite.
    pub(super) resumes_next_minute: bool,
}

pub(super) const CLAUDE: Agent = Agent {
    name: "claude",
    home: agent_setup::claude,
    model: None,
    other_model: Some(("haiku", "haiku")),
    takes_any_model: false,
    variant: Some(("low", "low")),
    mcp_tool: Some("mcp__everything__echo"),
    process: "claude",
    saves: None,
    resumes_next_minute: false,
};

pub(super) const CODEX: Agent = Agent {
    name: "codex",
    home: agent_setup::codex,
    model: None,
    other_model: Some(("gpt-5.4", "gpt-5.4")),
    takes_any_model: true,
    variant: Some(("high", "high")),
    mcp_tool: Some("mcp__everything/echo"),
    process: "codex",
    saves: None,
    resumes_next_minute: false,
};

pub(super) const OPENCODE: Agent = Agent {
    name: "opencode",
    home: agent_setup::opencode,
    model: None,
    other_model: Some(("scripted/scripted-2", "scripted-2")),
    takes_any_model: false,
    variant: Some(("high", "high")),
    mcp_tool: Some("everything_echo"),
    process: "opencode",
    saves: None,
    resumes_next_minute: false,
};

pub(super) const AMP_LOCAL: Agent = Agent {
    name: "amp-local",
    home: agent_setup::amp,
    model: None,
    other_model: None,
    takes_any_model: false,
    variant: None,
    mcp_tool: Some("mcp__everything__echo"),
    process: "main.js",
    saves: Some("/api/internal"),
    resumes_next_minute: false,
};

pub(super) const GEMINI: Agent = Agent {
    name: "gemini",
    home: agent_setup::gemini,
    model: Some("gemini-2.5-pro"),
    other_model: Some(("gemini-3.5-flash-lite", "gemini-3.5-flash-lite")),
    takes_any_model: false,
    variant: None,
    mcp_tool: Some("mcp_everything_echo"),
    process: "gemini.js",
    saves: None,
    resumes_next_minute: true,
};

pub(super) const PI: Agent = Agent {
    name: "pi",
    home: agent_setup::pi,
    model: None,
    other_model: Some(("scripted/scripted-2", "scripted-2")),
    takes_any_model: false,
    variant: Some(("low", "low")),
    mcp_tool: None,
    process: "pi",
    saves: None,
    resumes_next_minute: false,
};

/// Every agent of the table, by name.
pub(super) const ALL: [&Agent; 6] = [&AMP_LOCAL, &CLAUDE, &CODEX, &GEMINI, &OPENCODE, &PI];
