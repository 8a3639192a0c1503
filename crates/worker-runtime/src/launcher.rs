//! Starts the agents of sessions.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use agent_adapters::{self as adapter, Adapted, Options, Transport};
use agent_catalog::{Definition, Want};
use agent_install::{Ask, Installer, ReadyError};
use agent_server::AgentServers;
use files::private_file;
use process::ProcessSpec;
use protocol::{AgentName, SessionId, agents::AgentProtocol, sessions::AgentError};
use secrecy::{ExposeSecret, SecretString};
use tokio::task::spawn_blocking;

use crate::{
    Config, Error, Settings, agent_link::AgentLink, error::chain, metrics::SessionMetrics,
    offer_cache::OfferCache, session_secrets::SessionSecrets, stored_session::StoredOptions,
};

/// The longest line of an agent's output. A session parses, stores and publishes each line, which briefly takes about eight times its
/// size in memory. An agent may repeat the largest message of a client, of 16 MiB; a longer line is a fault.
const LINE_BYTES_MAX: usize = 24 << 20;

/// Starts the agents of sessions.
pub(crate) struct Launcher {
    pub(crate) config: Config,
    pub(crate) installer: Installer,
    pub(crate) settings: Arc<dyn Settings>,
    pub(crate) servers: AgentServers,
    pub(crate) metrics: SessionMetrics,
    pub(crate) offer_cache: OfferCache,
}

/// The parameters of one start of an agent.
pub(crate) struct AgentStart {
    pub(crate) options: StoredOptions,
    pub(crate) secrets: SessionSecrets,
    /// The API key for the agent's model.
    pub(crate) token: Option<SecretString>,
    pub(crate) directory: PathBuf,
    /// The private directory of the session.
    pub(crate) private: PathBuf,
    /// A name for this start, which keeps message ids of different starts apart.
    pub(crate) run: String,
    /// The agent's id of the conversation to resume.
    pub(crate) resume: Option<String>,
    /// Whether the agent must report its models although none is chosen.
    pub(crate) asks_models: bool,
}

impl Launcher {
    /// The private directory of a session.
    pub(crate) fn private_directory(&self, session: &SessionId) -> PathBuf {
        self.config.directory.join("private").join(session.as_str())
    }

    /// Writes the file with the secrets of a session.
    pub(crate) async fn write_secrets(&self, id: &SessionId, secrets: SessionSecrets) -> Result<(), Error> {
        let private = self.private_directory(id);
        let written = spawn_blocking(move || secrets.write(&private)).await;
        let written = written.map_err(io::Error::other).flatten();
        written.map_err(|source| Error::Secrets { session: id.clone(), source: Arc::new(source) })
    }

    /// Reads the file with the secrets of a session that has one.
    pub(crate) async fn read_secrets(&self, id: &SessionId) -> Result<SessionSecrets, Error> {
        let private = self.private_directory(id);
        let read = spawn_blocking(move || SessionSecrets::read(&private)).await;
        let read = read.map_err(io::Error::other).flatten();
        let secrets = read.and_then(|secrets| secrets.ok_or(io::ErrorKind::NotFound.into()));
        secrets.map_err(|source| Error::Secrets { session: id.clone(), source: Arc::new(source) })
    }

    /// The definition of an agent; `None` if it does not exist.
    pub(crate) async fn definition(&self, name: &AgentName) -> Option<Arc<Definition>> {
        self.installer.agent(name).await
    }

    /// Installs the agent if it is missing, and starts it.
    pub(crate) async fn start(&self, start: AgentStart) -> Result<AgentLink, AgentError> {
        let AgentStart { options: chosen, secrets, .. } = &start;
        let missing = || AgentError::StartFailed {
            message: format!(
                "there is no agent `{}`; run `tombolo agents list` to see which exist",
                chosen.agent
            ),
        };
        let agent = self.definition(&chosen.agent).await.ok_or_else(missing)?;
        let configured = self.settings.for_directory(start.directory.clone(), secrets.skills.clone()).await;
        let (mut mcp, mut skills, mut warnings) = (configured.mcp, configured.skills, configured.warnings);
        mcp.extend(secrets.mcp.clone());
        if agent.capabilities.mcp == Some(false) {
            let without = |server| AgentError::McpUnavailable {
                server,
                message: format!("{} does not use MCP servers", agent.name),
            };
            warnings.extend(std::mem::take(&mut mcp).into_keys().map(without));
        }
        if agent.protocol == AgentProtocol::Acp && agent.skills.is_none() {
            let without = |skill| AgentError::SkillUnavailable {
                skill,
                message: format!("Tombolo knows no way to give {} a skill", agent.name),
            };
            warnings.extend(std::mem::take(&mut skills).into_keys().map(without));
        }
        let mut options = Options {
            run: start.run.clone(),
            directory: start.directory.clone(),
            private: start.private.clone(),
            agent_mode: chosen.agent_mode.clone(),
            permission_mode: chosen.permission_mode,
            model: chosen.model.clone(),
            variant: chosen.variant.clone(),
            resume: start.resume.clone(),
            token: start.token.clone(),
            mcp,
            skills: skills.clone(),
            modes: agent.modes.clone(),
            asks_models: start.asks_models,
        };
        // Options that the agent does not have are rejected before anything is installed.
        adapter::adapt(agent.protocol, &options)?;
        let token = match &start.token {
            Some(token) => {
                let variable = key_variable(&agent, chosen)?;
                variable.map(|variable| (variable.to_owned(), token.expose_secret().into()))
            }
            None => None,
        };
        let mut spec = self.spec(&agent, &start).await?;
        if options.token.is_none() {
            options.token = self.installer.login_key(&agent, &start.directory, &secrets.env).await;
        }
        let Adapted { adapter, transport, args, env, files } = adapter::adapt(agent.protocol, &options)?;
        spec = spec.args(args);
        // Variables of the session override those of the adapter, which override those of the catalog.
        let own = secrets.env.iter().map(|(name, value)| (name.clone(), value.into()));
        spec.env.extend(env.into_iter().chain(own).chain(token).map(|(name, value)| (name.into(), value)));
        let private = start.private.clone();
        let given = agent.skills.clone().filter(|_| transport == Transport::Lines && !skills.is_empty());
        let (installer, known) = (self.installer.clone(), spec.env.clone());
        // Each file is flushed to the disk, which may take a while.
        let written = spawn_blocking(move || {
            write_files(&private, &files)?;
            let variable = |name: &str| match known.iter().rev().find(|(known, _)| known == name) {
                Some((_, value)) => Some(value.into()),
                None => installer.variable(name),
            };
            given.map(|row| row.prepare(&skills, &private, variable)).transpose()
        });
        let written = written.await.map_err(io::Error::other).flatten();
        let variable = written.map_err(|error| failed("write its configuration files", &error))?;
        spec.env.extend(variable.map(|(name, value)| (name.into(), value.into())));
        match transport {
            Transport::Lines => {
                let process =
                    process::spawn(&spec).await.map_err(|error| failed("start its process", &error))?;
                Ok(AgentLink::lines(adapter, process).with_warnings(warnings))
            }
            Transport::Server => {
                let attached =
                    self.servers.attach(spec).await.map_err(|error| failed("start its server", &error))?;
                Ok(AgentLink::server(adapter, attached).with_warnings(warnings))
            }
        }
    }

    /// Installs missing components of the agent, and returns its command as in the catalog.
    async fn spec(&self, agent: &Definition, start: &AgentStart) -> Result<ProcessSpec, AgentError> {
        if let Some(version) = &start.options.agent_version {
            let want =
                Want::parse(Some(version)).map_err(|error| failed("understand `agentVersion`", &error))?;
            let ask = Ask { want, ..Ask::default() };
            let install =
                self.installer.install(agent, &ask).await.map_err(|error| not_installed(&*error))?;
            install.finish().await.map_err(|error| not_installed(&*error))?;
        }
        let launch =
            self.installer.ready(agent, agent.for_sessions()).await.map_err(|error| match error {
                ReadyError::Install(error) => not_installed(&*error),
                ReadyError::Launch(error) => AgentError::StartFailed { message: error.to_string() },
            })?;
        let mut spec =
            ProcessSpec::new(launch.program).args(launch.args).cwd(&start.directory).grace(self.config.grace);
        spec.limits.line_bytes_max = LINE_BYTES_MAX;
        spec.env_remove = self.config.env_remove.clone();
        spec.env = launch.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Ok(spec)
    }
}

/// The environment variable from which the agent reads its API key.
fn key_variable<'a>(agent: &'a Definition, options: &StoredOptions) -> Result<Option<&'a str>, AgentError> {
    let variable = agent.credentials.key_variable(options.model.as_deref());
    variable
        .map_err(|unknown| AgentError::Unsupported { feature: "token".into(), message: unknown.to_string() })
}

fn failed(doing: &str, error: &dyn std::error::Error) -> AgentError {
    AgentError::StartFailed { message: format!("could not {doing}: {}", chain(error)) }
}

fn not_installed(error: &dyn std::error::Error) -> AgentError {
    AgentError::InstallFailed { message: chain(error) }
}

/// Writes the adapter's files. Only our user may read them, because they may contain keys.
fn write_files(private: &Path, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    private_file::create_directory(private)?;
    for (path, content) in files {
        let path = private.join(path);
        if let Some(parent) = path.parent() {
            private_file::create_directory(parent)?;
        }
        private_file::write(&path, content)?;
    }
    Ok(())
}
