//! Commands that run where the device is.
//!
//! A [`Shell`] starts commands, each with one owner task (`owner`), and remembers them for a while after their end. The
//! output of a command in the foreground goes to whoever started it, as fast as they take it; that of one in the background
//! is kept within limits until it is asked for.
//!
//! Where the system can do that, a command runs in a [`Sandbox`] that shows it the directories that are granted at their
//! virtual paths, and nothing else of its owner's. Without one it runs as any command of the owner, in the directory
//! itself: that must be chosen by the owner and be granted, and `capabilities.shell.runtime` tells which it is.

mod allowed;
mod chunk;
mod command;
mod commands;
mod config;
mod follow;
pub mod init;
mod owner;
mod place;
mod plan;
mod proxy;
mod refusal;
mod report;
mod ring;
mod sandbox;
mod scratch;
mod signal;
mod spawn;
mod speak;
mod text;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::relay::{
    DeviceCapabilities, Family, MethodInfo, RawJson, RelayAccepted, RelayError, RelayMethod, Request,
    ShellCapability as Offered,
    method::{EmptyObject, ShellCancel, ShellInput, ShellResize, ShellSignal, ShellStart, ShellStatus},
    shell::StartCommand,
};
use relay::{Peer, Reply};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::warn;

pub use config::{
    Config, ENDED_MAX, Limits, OnDisconnect, RETENTION, RING_BYTES_MAX, RUNNING_MAX, RUNTIME_MAX,
};
pub use place::OpenError;
pub use sandbox::Sandbox;

use self::{commands::Commands, place::Floors, plan::Plan};
use crate::{Control, Lending, Look, Provider, Roots, Subject, Visit};

/// Lends commands.
pub struct Shell {
    floors: Floors,
    config: Config,
    runtime: Runtime,
    commands: Arc<Commands>,
    lending: OnceLock<watch::Receiver<Lending>>,
    /// Cancelled when no commands are granted any more, for those that run then.
    granted: Mutex<CancellationToken>,
    /// Whoever drops it ends all that goes on.
    ending: CancellationToken,
    _end: DropGuard,
}

/// What commands run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// A sandbox, which was seen to work.
    Sandboxed,
    /// Nothing: they do what their owner could.
    Local,
    /// There is no sandbox and nothing else will do, so there are no commands.
    Unavailable,
}

impl Runtime {
    /// Its name, as a hello says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sandboxed => "sandboxed_local_shell",
            Self::Local => "local_shell",
            Self::Unavailable => "unavailable",
        }
    }
}

impl Shell {
    /// Lends commands in these directories. Whether a sandbox works is found out by using it.
    ///
    /// # Errors
    /// If a directory cannot be opened, or is to be seen where a sandbox has something else.
    pub async fn open(roots: Arc<Roots>, mut config: Config) -> Result<Self, OpenError> {
        let floors = Floors::open(roots, config.sandbox.is_some())?;
        if let Some(sandbox) = &config.sandbox
            && let Err(error) = sandbox.probe().await
        {
            warn!(error = %protocol::ErrorChain(&error), "no sandbox for commands is available");
            config.sandbox = None;
        }
        let runtime = match (&config.sandbox, config.lends.unsandboxed) {
            (Some(_), _) => Runtime::Sandboxed,
            (None, true) => Runtime::Local,
            (None, false) => Runtime::Unavailable,
        };
        let ending = CancellationToken::new();
        let commands = Commands::new(config.limits.clone());
        let _end = ending.clone().drop_guard();
        let (lending, granted) = (OnceLock::new(), Mutex::default());
        Ok(Self { floors, config, runtime, commands, lending, granted, ending, _end })
    }

    /// What commands run in.
    pub fn runtime(&self) -> Runtime {
        self.runtime
    }

    fn plan(&self, asked: &StartCommand, request: &Request) -> Result<Plan, RelayError> {
        let terms = request.context.as_ref().and_then(|context| context.terms.as_ref());
        Plan::new(asked, terms, &self.config, &self.floors, self.runtime)
    }

    async fn start(
        &self,
        request: &Request,
        reply: &mut Reply,
        visit: &Visit,
    ) -> Result<RawJson, RelayError> {
        // Before anything is started: what is revoked meanwhile ends as well.
        let revoked = self.granted.lock().clone();
        let plan = self.plan(&ShellStart::params(&request.params)?, request)?;
        let place = self.commands.place()?;
        // To its end, also when nobody wants it any more: what has come to life is ended properly below.
        let sandbox = self.config.sandbox.as_ref().map(|sandbox| (sandbox, &place.scratch));
        let started = spawn::spawn(&plan, sandbox, self.config.limits.grace).await?;
        let session = request.context.as_ref().and_then(|context| context.session_id.clone());
        let circumstances = owner::Circumstances {
            connection: reply.connection().clone(),
            request: reply.token().clone(),
            on_disconnect: self.config.on_disconnect,
            lending: self.lending.get().cloned(),
            revoked,
            ending: self.ending.clone(),
            lasting: visit.lasts(),
        };
        if plan.background {
            let command = self.commands.keep(started, session, place, &plan, circumstances);
            if let Err(unsent) = reply.stream("status", RawJson::from_value(&command.started())).await {
                // Nobody knows its name.
                command.cancel().await?;
                return Err(unsent.into());
            }
            return Ok(RawJson::from_value(&command.in_background()));
        }
        let (command, chunks) = self.commands.follow(started, session, place, &plan, circumstances);
        follow::follow(&command, chunks, reply, self.config.on_disconnect)
            .await
            .map(|ended| RawJson::from_value(&ended))
    }
}

#[async_trait]
impl Provider for Shell {
    fn family(&self) -> Family {
        Family::Shell
    }

    fn offer(&self, capabilities: &mut DeviceCapabilities) {
        if self.runtime != Runtime::Unavailable {
            let runtime = self.runtime.as_str().into();
            capabilities.shell = Some(Offered { enabled: true, runtime, interactive: true });
        }
    }

    /// What would be refused is asked about by nobody.
    fn look(
        &self,
        row: &'static MethodInfo,
        request: &Request,
        _: &CancellationToken,
    ) -> Result<Look, RelayError> {
        if row.name != ShellStart::INFO.name {
            return Ok(Look::default());
        }
        let asked = ShellStart::params(&request.params)?;
        let plan = self.plan(&asked, request)?;
        Ok(Look { subject: Some(Subject::command(&asked, &plan.place.at)), ..Look::default() })
    }

    async fn end(&self) {
        self.ending.cancel();
        self.commands.gone().await;
    }

    fn watch(&self, control: &Control) {
        // A device has one.
        let _ = self.lending.set(control.follow());
    }

    /// Commands may be kept when a connection is lost. They are not if none are granted on the next.
    async fn speak(&self, peer: &Peer) {
        let accepted = peer.accepted().await.ok().and_then(|accepted| accepted.read::<RelayAccepted>().ok());
        if !accepted.is_some_and(|accepted| accepted.accepted_capabilities.contains(&Family::Shell)) {
            std::mem::take(&mut *self.granted.lock()).cancel();
        }
    }

    async fn request(
        &self,
        row: &'static MethodInfo,
        request: Request,
        reply: &mut Reply,
        visit: &Visit,
    ) -> Result<RawJson, RelayError> {
        let session = request.context.as_ref().and_then(|context| context.session_id.as_deref());
        let find = |id: &str| self.commands.find(id, session);
        let params = &request.params;
        match row.name {
            name if name == ShellStart::INFO.name => return self.start(&request, reply, visit).await,
            name if name == ShellInput::INFO.name => {
                let input = ShellInput::params(params)?;
                find(&input.command_id)?.input(&input)?;
            }
            name if name == ShellResize::INFO.name => {
                let resize = ShellResize::params(params)?;
                find(&resize.command_id)?.resize(resize.cols, resize.rows)?;
            }
            name if name == ShellSignal::INFO.name => {
                let signal = ShellSignal::params(params)?;
                find(&signal.command_id)?.signal(&signal.signal)?;
            }
            name if name == ShellCancel::INFO.name => {
                find(&ShellCancel::params(params)?.command_id)?.cancel().await?;
            }
            name if name == ShellStatus::INFO.name => {
                let inspect = ShellStatus::params(params)?;
                return Ok(RawJson::from_value(&find(&inspect.command_id)?.status(inspect.drain)));
            }
            _ => return Err(refusal::unknown(row)),
        }
        Ok(RawJson::from_value(&EmptyObject {}))
    }
}
