//! The owner's `tools.toml`.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::relay::{ApprovalPolicy, RootId, ToolName, ToolRisk};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    command,
    tool::{USE_WAIT, USE_WAIT_MAX},
};

/// The largest file: it holds some schemas.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// How many MCP servers there may be: each is a process or a connection.
const SERVERS_MAX: usize = 32;

/// The owner's `tools.toml`: which commands are tools, and which tools of which MCP servers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default, rename = "tool")]
    pub(crate) tools: Vec<CommandConfig>,
    #[serde(default, rename = "mcp")]
    pub(crate) servers: BTreeMap<String, ServerConfig>,
    /// Where it is: what is relative in it is so to this.
    #[serde(skip)]
    pub(crate) directory: PathBuf,
}

/// A command that is a tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandConfig {
    pub(crate) name: ToolName,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    /// The program and its arguments, to which nothing is ever added.
    pub(crate) command: Vec<String>,
    pub(crate) input_schema: Option<Map<String, Value>>,
    /// A file with the schema instead.
    pub(crate) input_schema_file: Option<PathBuf>,
    risk: Option<ToolRisk>,
    approval: Option<ApprovalPolicy>,
    pub(crate) timeout_ms: Option<u64>,
    /// Variables of the device's environment that it gets besides the usual ones.
    #[serde(default)]
    pub(crate) env: Vec<String>,
    /// The root that it runs in.
    pub(crate) cwd: Option<RootId>,
}

/// An MCP server of which tools are lent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerConfig {
    /// The program and its arguments.
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// Variables for it: these may be secrets.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Variables of the device's environment that it gets besides the usual ones.
    #[serde(default)]
    pub(crate) inherit_env: Vec<String>,
    /// Where it is instead, if it is no program of this machine.
    pub(crate) url: Option<String>,
    /// Headers for it: these may be secrets.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Those of its tools that are lent.
    pub(crate) tools: Vec<Selection>,
    pub(crate) timeout_ms: Option<u64>,
}

/// A tool of an MCP server that is lent.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Selection {
    Name(String),
    Tool(Box<Selected>),
}

/// The same with more said about it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Selected {
    pub(crate) name: String,
    /// What it is called here.
    #[serde(rename = "as")]
    pub(crate) alias: Option<ToolName>,
    risk: Option<ToolRisk>,
    approval: Option<ApprovalPolicy>,
}

/// What can come of a tool, and who must be asked before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    pub(crate) risk: ToolRisk,
    pub(crate) approval: ApprovalPolicy,
}

/// Why a `tools.toml` is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("could not read `{}`", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is too large.
    #[error("`{}` is larger than {FILE_BYTES_MAX} bytes", .0.display())]
    Large(PathBuf),
    /// Others may change it: it says what is run.
    #[error("`{}` is writable by other users; run `chmod go-w` on it", .0.display())]
    Writable(PathBuf),
    /// It holds secrets and others may read it.
    #[error("`{}` contains secrets and is readable by other users; run `chmod 600` on it", .0.display())]
    Readable(PathBuf),
    /// It is no TOML, or says something that is not known.
    #[error("`{}` is not a valid tools file: {reason}", path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// What is wrong, without what is there, which may be a secret.
        reason: String,
    },
    /// A tool or a server makes no sense.
    #[error("`{name}`: {reason}")]
    Senseless {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

impl Config {
    /// Reads a `tools.toml`.
    ///
    /// # Errors
    /// If it cannot be read, others may change it, it holds secrets that others may read, or makes no sense.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let failed = |source| ConfigError::Read { path: path.to_owned(), source };
        let file = fs::File::open(path).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.mode();
        let text = text(&file, path)?;
        if mode & 0o022 != 0 {
            return Err(ConfigError::Writable(path.to_owned()));
        }
        let mut config: Self = toml::from_str(&text)
            .map_err(|error| ConfigError::Syntax { path: path.to_owned(), reason: said(&error, &text) })?;
        if mode & 0o077 != 0 && config.has_secrets() {
            return Err(ConfigError::Readable(path.to_owned()));
        }
        config.directory = path.parent().unwrap_or(Path::new(".")).to_owned();
        config.check()?;
        Ok(config)
    }

    /// Whether it is not for others to read.
    pub(crate) fn has_secrets(&self) -> bool {
        self.servers.values().any(ServerConfig::has_secrets)
    }

    /// The files that it says more in.
    pub(crate) fn schema_files(&self) -> impl Iterator<Item = PathBuf> {
        self.tools.iter().filter_map(|tool| Some(self.directory.join(tool.input_schema_file.as_ref()?)))
    }

    /// The programs that it names by their paths.
    pub(crate) fn programs(&self) -> impl Iterator<Item = PathBuf> {
        let tools = self.tools.iter().map(|tool| &tool.command);
        let commands = tools.chain(self.servers.values().map(|server| &server.command));
        commands.filter_map(|command| command::program(command.first()?, &self.directory))
    }

    fn check(&mut self) -> Result<(), ConfigError> {
        let directory = self.directory.clone();
        for tool in &mut self.tools {
            let bad = |reason: &str| senseless(tool.name.as_str(), reason);
            if tool.command.is_empty() {
                return Err(bad("`command` is missing or empty"));
            }
            match (&tool.input_schema, &tool.input_schema_file) {
                (Some(_), None) => {}
                (None, Some(file)) => tool.input_schema = Some(schema(&directory.join(file))?),
                _ => return Err(bad("set exactly one of `input_schema` and `input_schema_file`")),
            }
        }
        if self.servers.len() > SERVERS_MAX {
            return Err(senseless("mcp", &format!("at most {SERVERS_MAX} servers are allowed")));
        }
        for (name, server) in &self.servers {
            if server.command.is_empty() == server.url.is_none() {
                return Err(senseless(name, "set exactly one of `command` and `url`"));
            }
            if server.tools.is_empty() {
                return Err(senseless(name, "`tools` is empty: list the tools to lend"));
            }
            if name.parse::<ToolName>().is_err() {
                return Err(senseless(name, "a server name must follow the rules for tool names"));
            }
        }
        Ok(())
    }
}

impl ServerConfig {
    fn has_secrets(&self) -> bool {
        // Where it is may hold one too.
        !self.env.is_empty()
            || !self.headers.is_empty()
            || self.url.as_ref().is_some_and(|url| url.contains(['?', '@']))
    }
}

/// Shows the names of the variables and headers and not their values, which hold keys and tokens.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("program", &self.command.first())
            .field("env", &self.env.keys())
            .field("inherit_env", &self.inherit_env)
            .field("headers", &self.headers.keys())
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl Selection {
    pub(crate) fn read(&self) -> Selected {
        match self {
            Self::Name(name) => Selected { name: name.clone(), ..Selected::default() },
            Self::Tool(selected) => (**selected).clone(),
        }
    }
}

impl CommandConfig {
    pub(crate) fn policy(&self) -> Policy {
        Policy::of(self.risk, self.approval)
    }
}

impl Selected {
    pub(crate) fn policy(&self) -> Policy {
        Policy::of(self.risk, self.approval)
    }
}

impl Policy {
    /// Of what nothing is said can come what can be undone, and who is asked goes by what can come of it.
    fn of(risk: Option<ToolRisk>, approval: Option<ApprovalPolicy>) -> Self {
        let risk = risk.unwrap_or(ToolRisk::Medium);
        let usual = match risk {
            ToolRisk::Low => ApprovalPolicy::Allow,
            ToolRisk::Medium => ApprovalPolicy::AskOncePerRun,
            ToolRisk::High | ToolRisk::Critical => ApprovalPolicy::AlwaysAsk,
        };
        Self { risk, approval: approval.unwrap_or(usual) }
    }
}

/// How long a use may take.
pub(crate) fn wait(timeout_ms: Option<u64>) -> Duration {
    timeout_ms.map_or(USE_WAIT, Duration::from_millis).min(USE_WAIT_MAX)
}

pub(crate) fn senseless(name: &str, reason: &str) -> ConfigError {
    ConfigError::Senseless { name: name.into(), reason: reason.into() }
}

fn schema(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let file = fs::File::open(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let text = text(&file, path)?;
    serde_json::from_str(&text)
        .map_err(|error| ConfigError::Syntax { path: path.to_owned(), reason: error.to_string() })
}

fn text(file: &fs::File, path: &Path) -> Result<String, ConfigError> {
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(ConfigError::Large(path.to_owned()));
    }
    Ok(text)
}

/// What is wrong and where, without the line itself: it may hold a secret.
fn said(error: &toml::de::Error, text: &str) -> String {
    let at = error.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    match at {
        Some(line) => format!("line {line}: {}", error.message()),
        None => error.message().to_owned(),
    }
}
