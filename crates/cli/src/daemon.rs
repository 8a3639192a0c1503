//! `tombolo daemon`: serves the agents, files and processes of this machine over HTTP.

mod options;

use std::{net::SocketAddr, process::ExitCode, time::Duration};

use ::agents::ConfigFile;
use anyhow::Context;
use client::Client;
use daemon::{BoundDaemon, Config, DaemonAccess, DaemonServer, DaemonToken, HubJoin};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

pub(crate) use options::DaemonOptions;

use crate::{
    agents, exit, memory, secret,
    serving::{self, ShutdownSignals, print_line},
    storage::data_dir,
};

/// The service name in exported traces.
const TRACE_SERVICE: &str = "tombolo-daemon";

/// When to release the memory that only the start needed. Not immediately, as the first request needs much of it again.
const RELEASE_MEMORY_AFTER: Duration = Duration::from_millis(200);

/// Runs a daemon until a signal stops it.
pub(crate) fn run(options: &DaemonOptions) -> anyhow::Result<ExitCode> {
    serving::run(TRACE_SERVICE, &options.log, &options.traces, || Ok(serve_until_signal(config(options)?)))
}

async fn serve_until_signal(config: Config) -> anyhow::Result<()> {
    let signals = ShutdownSignals::listen()?;
    let bound = DaemonServer::bind(&config).await?;
    print_line(&format!("listening on http://{}", bound.address()?));
    signals.run_until_signal(|stop| serve(bound, stop)).await;
    Ok(())
}

/// Serves until `stop` is cancelled, and releases memory after the start.
pub(crate) async fn serve(bound: BoundDaemon, stop: CancellationToken) {
    let release_memory = async {
        tokio::time::sleep(RELEASE_MEMORY_AFTER).await;
        memory::release_startup_memory();
    };
    // Before the first child starts: init would adopt the processes that an agent leaves behind, and nothing could tell
    // whose they are.
    let adopt_orphans = async {
        match process::OrphanReaper::enable() {
            Ok(orphans) => orphans.reap_orphans().await,
            Err(error) => Err(error),
        }
    };
    let serve = async { tokio::join!(bound.serve(stop), release_memory) };
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

/// Resolves the options: reads the files and variables that they refer to.
pub(crate) fn config(options: &DaemonOptions) -> anyhow::Result<Config> {
    let file = ConfigFile::read(options.config.as_deref())?;
    let data_dir = data_dir(options.data_dir.as_deref())?;
    let install = agents::config(&data_dir, &options.install, &file.install, !options.no_install)?;
    Ok(Config {
        address: SocketAddr::new(options.host, options.port),
        access: access(options)?,
        allow_open_network: options.no_token,
        data_dir,
        own_program: std::env::current_exe().context("could not determine the path of this program")?,
        current_dir: std::env::current_dir().context("could not determine the current directory")?,
        env_remove: secret::VARIABLES.map(Into::into).into(),
        agents: file.agents,
        install,
        settings: options.settings.clone(),
        join: join(options)?,
    })
}

fn access(options: &DaemonOptions) -> anyhow::Result<DaemonAccess> {
    if options.no_token {
        return Ok(DaemonAccess::Open);
    }
    match secret::token(options.token.as_ref(), options.token_file.as_deref(), secret::TOKEN_VARIABLE)? {
        Some(token) => Ok(DaemonAccess::Token(DaemonToken::new(token.expose_secret())?)),
        None => Ok(DaemonAccess::Open),
    }
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
