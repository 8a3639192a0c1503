//! `tombolo daemon`: serves the agents, files and processes of this machine over HTTP.

mod options;

use std::{io, net::SocketAddr, path::Path, process::ExitCode, time::Duration};

use agent_catalog::ConfigFile;
use anyhow::Context;
use client::Client;
use daemon::{BoundDaemon, Config, DaemonAccess, DaemonServer, DaemonToken, HubJoin};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

pub(crate) use options::DaemonOptions;

use crate::{
    agents,
    daemon_token::{self, AddressRecord},
    exit, memory, secret,
    serving::{self, ShutdownSignals, print_line},
    storage::data_dir,
};

/// The service name in exported traces.
const TRACE_SERVICE: &str = "tombolo-daemon";

/// When to release the memory that only the start needed. Not immediately, as the first request needs much of it again.
const RELEASE_MEMORY_AFTER: Duration = Duration::from_millis(200);

/// Runs a daemon until a signal stops it.
pub(crate) fn run(options: &DaemonOptions) -> anyhow::Result<ExitCode> {
    serving::run(TRACE_SERVICE, &options.log, &options.traces, || Ok(serve_until_signal(resolve(options)?)))
}

async fn serve_until_signal(options: ResolvedOptions) -> anyhow::Result<()> {
    let signals = ShutdownSignals::listen()?;
    let bound = DaemonServer::bind(&options.config).await;
    let bound = bound.map_err(|error| serving::explain_taken_port(error, "--port"))?;
    let address = bound.address()?;
    let record = options.token.publish(&options.config.data_dir, address).await;
    print_line(&format!("listening on http://{address}"));
    signals.run_until_signal(|stop| serve(bound, record, stop)).await;
    Ok(())
}

/// Serves until `stop` is cancelled, and releases memory after the start. `record` ends with the listener: from then on,
/// another user may listen on the address.
pub(crate) async fn serve(bound: BoundDaemon, record: Option<AddressRecord>, stop: CancellationToken) {
    let release_memory = async {
        tokio::time::sleep(RELEASE_MEMORY_AFTER).await;
        memory::release_startup_memory();
    };
    let release_address = {
        let stop = stop.clone();
        async move {
            stop.cancelled().await;
            drop(record);
        }
    };
    // Before the first child starts: init would adopt the processes that an agent leaves behind, and nothing could tell
    // whose they are.
    let adopt_orphans = async {
        match process::OrphanReaper::enable() {
            Ok(orphans) => orphans.reap_orphans().await,
            Err(error) => Err(error),
        }
    };
    let serve = async { tokio::join!(release_address, bound.serve(stop), release_memory) };
    tokio::pin!(serve);
    tokio::select! {
        biased;
        adopted = adopt_orphans => {
            if let Err(error) = adopted {
                exit::say(&format!(
                    "processes that leave an agent's group and clear their environment cannot be ended: {error}"
                ));
            }
            serve.await;
        }
        _ = &mut serve => {}
    }
}

/// The options of a daemon, with everything that they refer to.
pub(crate) struct ResolvedOptions {
    pub(crate) config: Config,
    pub(crate) token: TokenSource,
}

/// Where the token of a daemon comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenSource {
    /// The user set it.
    Given,
    /// The daemon generated it and stores it in its data directory.
    Generated,
    /// The daemon wants no token.
    None,
}

impl TokenSource {
    /// Lets commands of the same user find a generated token.
    pub(crate) async fn publish(self, data_dir: &Path, address: SocketAddr) -> Option<AddressRecord> {
        if self != Self::Generated {
            return None;
        }
        // Some network file systems have no locks. Such a daemon is useful all the same.
        let record = AddressRecord::publish(data_dir, address).await;
        let explain = |error: &io::Error| {
            let path = daemon_token::path(data_dir);
            exit::say(&format!(
                "commands cannot find the token of this daemon by themselves ({error}): pass --token-file {}",
                path.display()
            ));
        };
        record.inspect_err(explain).ok()
    }
}

/// Resolves the options: reads the files and variables that they refer to.
pub(crate) fn resolve(options: &DaemonOptions) -> anyhow::Result<ResolvedOptions> {
    let file = ConfigFile::read(options.config.as_deref())?;
    let data_dir = data_dir(options.data_dir.as_deref())?;
    let install = agents::config(&data_dir, &options.install, &file.install, !options.no_install)?;
    let (access, token) = access(options, &data_dir)?;
    let config = Config {
        address: SocketAddr::new(options.host, options.port),
        access,
        allow_open_network: options.no_token,
        data_dir,
        own_program: std::env::current_exe().context("could not determine the path of this program")?,
        current_dir: std::env::current_dir().context("could not determine the current directory")?,
        env_remove: secret::VARIABLES.map(Into::into).into(),
        agents: file.agents,
        install,
        settings: options.settings.clone(),
        join: join(options)?,
    };
    Ok(ResolvedOptions { config, token })
}

fn access(options: &DaemonOptions, data_dir: &Path) -> anyhow::Result<(DaemonAccess, TokenSource)> {
    if options.no_token {
        return Ok((DaemonAccess::Open, TokenSource::None));
    }
    let given = secret::token(options.token.as_ref(), options.token_file.as_deref(), secret::TOKEN_VARIABLE)?;
    if let Some(token) = given {
        return Ok((DaemonAccess::Token(DaemonToken::new(token.expose_secret())?), TokenSource::Given));
    }
    // Clients on other machines cannot find a generated token. The daemon refuses to listen there without a given one.
    if !options.host.is_loopback() {
        return Ok((DaemonAccess::Open, TokenSource::None));
    }
    Ok((DaemonAccess::Token(daemon_token::load_or_generate(data_dir)?), TokenSource::Generated))
}

fn join(options: &DaemonOptions) -> anyhow::Result<Option<HubJoin>> {
    let Some(hub) = &options.join else { return Ok(None) };
    let endpoint = hub.parse().with_context(|| format!("--join `{hub}` is not the URL of a hub"))?;
    let token = secret::token(None, options.join_token_file.as_deref(), secret::JOIN_TOKEN_VARIABLE)?;
    let token =
        token.context("joining a hub requires a token: pass --join-token-file or set TOMBOLO_JOIN_TOKEN")?;
    let token: client::Token = token.expose_secret().parse().context("the join token is invalid")?;
    Ok(Some(HubJoin { hub: Client::new(endpoint, Some(&token))?, name: options.join_as.clone() }))
}
