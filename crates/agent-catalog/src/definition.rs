//! One agent: what it is and how it is started.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use protocol::{
    AgentName,
    agents::{AgentCapabilities, AgentMode, AgentModel, AgentProtocol, AgentSource},
};
use serde::Deserialize;

use crate::{
    ComponentName, Found, SearchPath, SkillsRow, Template,
    table::{AgentRow, Credentials, LaunchRow},
};

/// Why an agent cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its program is not there.
    #[error(
        "agent `{agent}` is not installed: the program `{program}` was not found; install it with `tombolo agents install {agent}`, or put it on PATH"
    )]
    NotInstalled {
        /// The agent.
        agent: AgentName,
        /// What was looked for.
        program: String,
    },
    /// It does not speak ACP.
    #[error("agent `{0}` does not speak ACP, so it cannot be driven through `/v1/acp`")]
    NotAcp(AgentName),
}

/// An agent as a user defines it: `[agents.NAME]` in the configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserAgent {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Arguments after those of `command`.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables added to its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The protocol that it speaks; ACP if left out.
    #[serde(default = "acp")]
    pub protocol: AgentProtocol,
    /// Its name for people; its id if left out.
    pub name: Option<String>,
}

fn acp() -> AgentProtocol {
    AgentProtocol::Acp
}

/// How a program is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program, as a path or as a name to look up.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to its environment.
    pub env: BTreeMap<String, String>,
}

/// Which of its protocols an agent is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be driven through `/v1/acp`.
    Acp,
    /// To speak the protocol of its own.
    Native,
}

/// One agent: what it is and how it is started.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its id.
    pub id: AgentName,
    /// Its name for people.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// What people should know before they choose it.
    pub note: Option<String>,
    /// Where it comes from.
    pub source: AgentSource,
    /// The protocol that its own program speaks.
    pub protocol: AgentProtocol,
    /// How it is started to speak ACP, if it does.
    pub acp: Option<LaunchRow>,
    /// How it is started to speak the protocol of its own, if it has one.
    pub native: Option<LaunchRow>,
    /// Its version, where it is known without asking it.
    pub version: Option<String>,
    /// Where its credentials are.
    pub credentials: Credentials,
    /// A command that succeeds if the user is logged in with the agent.
    pub login_status: Option<LaunchRow>,
    /// How it is given skills over ACP; not at all if none.
    pub skills: Option<SkillsRow>,
    /// What it can do.
    pub capabilities: AgentCapabilities,
    /// The ways it can behave.
    pub modes: Vec<AgentMode>,
    /// The models it can use.
    pub models: Vec<AgentModel>,
}

impl Definition {
    /// From a row of a table.
    pub(crate) fn of_row(id: AgentName, row: AgentRow, source: AgentSource) -> Self {
        Self {
            id,
            name: row.name,
            description: Some(row.description).filter(|text| !text.is_empty()),
            note: row.note,
            source,
            protocol: row.native.as_ref().map_or(AgentProtocol::Acp, |native| native.protocol),
            capabilities: AgentCapabilities { acp: row.acp.is_some(), ..row.capabilities },
            acp: row.acp,
            native: row.native.map(|native| native.launch),
            version: None,
            credentials: row.credentials,
            login_status: row.login_status,
            skills: row.skills,
            modes: row.modes,
            models: row
                .models
                .into_iter()
                .map(|model| AgentModel { id: model.id, name: model.name, variants: model.variants })
                .collect(),
        }
    }

    /// From what a user says in the configuration file.
    pub(crate) fn of_user(id: AgentName, agent: UserAgent) -> Self {
        let mut command = agent.command.into_iter();
        let launch = LaunchRow {
            program: Template::literal(command.next().unwrap_or_default()),
            args: command.chain(agent.args).map(Template::literal).collect(),
            env: agent.env.into_iter().map(|(name, value)| (name, Template::literal(value))).collect(),
            path: Vec::new(),
            flags: Vec::new(),
        };
        let speaks_acp = agent.protocol == AgentProtocol::Acp;
        let (acp, native) = if speaks_acp { (Some(launch), None) } else { (None, Some(launch)) };
        Self {
            name: agent.name.unwrap_or_else(|| id.to_string()),
            id,
            description: None,
            note: None,
            source: AgentSource::User,
            protocol: agent.protocol,
            acp,
            native,
            version: None,
            credentials: Credentials::default(),
            login_status: None,
            skills: None,
            capabilities: acp_alone(speaks_acp),
            modes: Vec::new(),
            models: Vec::new(),
        }
    }

    /// How it is started for `purpose`, if it can be.
    pub fn launch(&self, purpose: Purpose) -> Option<&LaunchRow> {
        match purpose {
            Purpose::Acp => self.acp.as_ref(),
            Purpose::Native => self.native.as_ref(),
        }
    }

    /// What it is started for when nothing else is said.
    pub fn usual(&self) -> Purpose {
        if self.acp.is_some() { Purpose::Acp } else { Purpose::Native }
    }

    /// What it is started for in a session: its own protocol tells more than ACP.
    pub fn for_sessions(&self) -> Purpose {
        if self.native.is_some() { Purpose::Native } else { Purpose::Acp }
    }

    /// Everything that it needs on disk, whatever it is started for.
    pub fn components(&self) -> BTreeSet<ComponentName> {
        self.acp.iter().chain(&self.native).flat_map(LaunchRow::components).collect()
    }

    /// How to start it now for `purpose`, with components where `find` finds them.
    pub fn plan(
        &self,
        purpose: Purpose,
        path: &SearchPath,
        find: &impl Fn(&ComponentName) -> Option<Found>,
    ) -> Result<Launch, Error> {
        let row = self.launch(purpose).ok_or_else(|| Error::NotAcp(self.id.clone()))?;
        self.plan_row(row, path, find)
    }

    /// How to run one of its commands now, with components where `find` finds them.
    pub fn plan_row(
        &self,
        row: &LaunchRow,
        path: &SearchPath,
        find: &impl Fn(&ComponentName) -> Option<Found>,
    ) -> Result<Launch, Error> {
        let missing = |what: &dyn std::fmt::Display| Error::NotInstalled {
            agent: self.id.clone(),
            program: what.to_string(),
        };
        let fill = |template: &Template| template.fill(find).map_err(|name| missing(name));
        let program = PathBuf::from(fill(&row.program)?);
        let Some(found) = path.find(&program) else { return Err(missing(&program.display())) };
        let args = row.args.iter().map(fill).collect::<Result<_, _>>()?;
        let mut env: BTreeMap<_, _> = row
            .env
            .iter()
            .map(|(name, value)| Ok((name.clone(), fill(value)?)))
            .collect::<Result<_, Error>>()?;
        if !row.path.is_empty() {
            let first = row.path.iter().map(fill).collect::<Result<Vec<_>, _>>()?;
            env.insert("PATH".into(), path.behind(&first));
        }
        Ok(Launch { program: found, args, env })
    }
}

/// The capabilities of an agent of which nothing is known but its protocol.
pub(crate) fn acp_alone(acp: bool) -> AgentCapabilities {
    AgentCapabilities { acp, ..AgentCapabilities::default() }
}
