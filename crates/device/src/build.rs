//! The one place where a device is put together.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use protocol::relay::{ApprovalPolicy, ShellGrant};
use tokio_util::sync::CancellationToken;

use crate::{
    Consent, Device, DeviceConfig, Fileops, Home, Ledger, LentRoot, OpenError, Provider, Roots, ShellConfig,
    WhenLost, own,
    shell::{self, OnDisconnect, Sandbox, Shell},
    tools::{self, Servers, Shelf, ToolSocket, Tools},
};

/// What a device needs of where it runs.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// Where it keeps its own files.
    pub home: &'a Home,
    /// The file that says what is lent, if there is one.
    pub config: Option<&'a Path>,
    /// The file that holds its token, if that is not among its own.
    pub token: Option<&'a Path>,
    /// The file that has it started, if there is one.
    pub unit: Option<&'a Path>,
    /// This program, which is the first in a sandbox if it is started with [`shell::init::ARGUMENT`].
    pub program: &'a Path,
    /// Its environment, without secrets of its own: commands and tools get what is allowed of it.
    pub environment: BTreeMap<OsString, OsString>,
}

/// A device that is put together, and what it needs besides a connection.
pub struct Built {
    /// The device.
    pub device: Device,
    /// Whoever offers tools.
    pub workshop: Workshop,
}

/// Whoever offers tools to a device: servers that are kept running, and programs that come and go.
#[derive(Default)]
pub struct Workshop {
    servers: Option<Servers>,
    socket: Option<(ToolSocket, Shelf)>,
}

/// Why a device cannot be what its owner wants.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A directory cannot be lent.
    #[error(transparent)]
    Roots(#[from] OpenError),
    /// What decides what the device is and does would be lent.
    #[error("`{}` holds {what} (`{}`): {verdict}", directory.display(), path.display())]
    Holds {
        /// The directory.
        directory: PathBuf,
        /// What it holds.
        what: &'static str,
        /// Where that is.
        path: PathBuf,
        /// How it can be lent, if at all.
        verdict: &'static str,
    },
    /// A directory cannot be looked at.
    #[error("could not inspect `{}`", path.display())]
    Look {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Commands cannot be lent.
    #[error(transparent)]
    Shell(#[from] shell::OpenError),
    /// This program cannot be opened.
    #[error("could not open `{}`, which the sandbox needs", path.display())]
    Program {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Tools cannot be lent.
    #[error(transparent)]
    Tools(#[from] tools::ConfigError),
    /// Programs cannot offer tools.
    #[error("could not open the tool socket `{}`", path.display())]
    Socket {
        /// Where it would be.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Puts together what is to be lent, as far as the owner agrees, with a record of what is asked of it.
///
/// # Errors
/// If something of it cannot be lent.
pub async fn build(
    config: &DeviceConfig,
    surroundings: Surroundings<'_>,
    consent: Consent,
    ledger: Option<Ledger>,
) -> Result<Built, BuildError> {
    let tools = config.tools.as_deref().map(|path| Ok::<_, BuildError>((path, tools::Config::read(path)?)));
    let tools = tools.transpose()?;
    own::apart(&config.roots, &surroundings, tools.as_ref().map(|(path, tools)| (*path, tools)))?;
    let Surroundings { home, program, environment, .. } = surroundings;
    let lent = config.roots.iter().map(|LentRoot { root, directory }| (root.clone(), directory.clone()));
    let roots = Arc::new(Roots::open(lent)?);
    let mut providers: Vec<Box<dyn Provider>> = Vec::new();
    if !config.roots.is_empty() {
        providers.push(Box::new(Fileops::new(roots.clone())));
    }
    let mut workshop = Workshop::default();
    if config.tools.is_some() || config.tool_socket {
        let shelf = Shelf::default();
        if let Some((_, tools)) = &tools {
            shelf.put_commands(tools, &environment, &roots)?;
            workshop.servers = Some(Servers::new(tools, &environment, &shelf)?);
        }
        if config.tool_socket {
            let path = home.tools();
            let socket = ToolSocket::open(&path).map_err(|source| BuildError::Socket { path, source })?;
            workshop.socket = Some((socket, shelf.clone()));
        }
        providers.push(Box::new(Tools::new(shelf)));
    }
    if let Some(shell) = &config.shell {
        let sandbox = Sandbox::new(program)
            .map_err(|source| BuildError::Program { path: program.to_owned(), source })?;
        providers.push(Box::new(Shell::open(roots, commands(shell, environment, sandbox)).await?));
    }
    Ok(Built { device: Device::recording(providers, consent, ledger), workshop })
}

impl Workshop {
    /// Keeps servers running and lets programs in, until `stop`.
    pub async fn keep(self, stop: CancellationToken) {
        let servers = async {
            if let Some(servers) = self.servers {
                servers.keep(stop.clone()).await;
            }
        };
        let programs = async {
            if let Some((socket, shelf)) = self.socket {
                socket.serve(shelf, stop.clone()).await;
            }
        };
        tokio::join!(servers, programs);
    }
}

/// How commands are lent.
fn commands(
    shell: &ShellConfig,
    environment: BTreeMap<OsString, OsString>,
    sandbox: Sandbox,
) -> shell::Config {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    shell::Config {
        lends: ShellGrant {
            cwd: None,
            env: shell.env.clone(),
            network: shell.network,
            // The owner's own rules say when they are asked.
            approval_policy: ApprovalPolicy::Allow,
            runtime_max_ms: shell.runtime_max_ms,
            output_limit_bytes: shell.output_limit_bytes,
            unsandboxed: shell.unsandboxed,
        },
        environment: environment.into_iter().filter_map(text).collect(),
        sandbox: Some(sandbox),
        on_disconnect: match shell.on_disconnect {
            WhenLost::Kill => OnDisconnect::Kill,
            WhenLost::Keep => OnDisconnect::Keep,
        },
        limits: shell::Limits::default(),
    }
}
