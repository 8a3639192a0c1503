//! `tombolo daemon`.

mod options;

use std::{net::SocketAddr, process::ExitCode, time::Duration};

use anyhow::Context;
use client::Client;
use daemon::{Access, Bound, Config, ConfigFile, CorsConfig, Join, Server, Token};
use tokio_util::sync::CancellationToken;

pub(crate) use options::DaemonOptions;

use crate::{
    agents, memory, secret,
    serving::{self, ShutdownSignals, print_line},
    storage::data_dir,
};

/// What the daemon is called in traces.
const SERVICE: &str = "tombolo-daemon";

/// How long after its start a daemon returns what only that needed. The first answer needs much of the same.
const START: Duration = Duration::from_millis(200);

/// Serves until a signal ends it.
pub(crate) fn run(options: &DaemonOptions) -> anyhow::Result<ExitCode> {
    serving::run(SERVICE, &options.log, &options.traces, || Ok(until_a_signal(config(options)?)))
}

async fn until_a_signal(config: Config) -> anyhow::Result<()> {
    let signals = ShutdownSignals::listen()?;
    let bound = Server::bind(&config).await?;
    print_line(&format!("listening on http://{}", bound.address()?));
    signals.run_until_signal(|stop| serve(bound, stop)).await;
    Ok(())
}

/// Serves until `stop`, and tidies up after the start.
pub(crate) async fn serve(bound: Bound, stop: CancellationToken) {
    let tidying = async {
        tokio::time::sleep(START).await;
        memory::release_startup_memory();
    };
    tokio::join!(bound.serve(stop), tidying);
}

/// How the daemon is to run.
pub(crate) fn config(options: &DaemonOptions) -> anyhow::Result<Config> {
    let file = match &options.config {
        Some(path) => ConfigFile::read(path)?,
        None => ConfigFile::default(),
    };
    let data_dir = data_dir(options.data_dir.as_deref())?;
    let install = agents::config(&data_dir, &options.install, &file.install, !options.no_install)?;
    Ok(Config {
        address: SocketAddr::new(options.host, options.port),
        access: access(options)?,
        open_to_the_network: options.no_token,
        hosts: options.allow_host.clone(),
        cors: CorsConfig {
            origins: options.cors_allow_origin.clone(),
            methods: options.cors_allow_method.clone(),
            headers: options.cors_allow_header.clone(),
            credentials: options.cors_allow_credentials,
        },
        fs_root: options.fs_root.clone(),
        data_dir,
        own_program: std::env::current_exe().context("could not find this program")?,
        current_dir: std::env::current_dir().context("could not find the current directory")?,
        env_remove: secret::VARIABLES.map(Into::into).into(),
        agents: file.agents,
        install,
        events_max: options.events_max,
        events_bytes_max: options.events_bytes_max,
        grace: Duration::from_millis(options.grace_ms),
        timeout_max: Duration::from_millis(options.timeout_max_ms),
        wait_timeout: Some(options.wait_timeout).filter(|timeout| !timeout.is_zero()),
        session_idle: options.session_idle,
        stall: Duration::from_millis(options.stall_ms),
        join: join(options)?,
    })
}

fn access(options: &DaemonOptions) -> anyhow::Result<Access> {
    if options.no_token {
        return Ok(Access::Open);
    }
    match secret::token(options.token.as_ref(), options.token_file.as_deref(), secret::TOKEN_VARIABLE)? {
        Some(token) => Ok(Access::Token(Token::new(token.reveal())?)),
        None => Ok(Access::Open),
    }
}

fn join(options: &DaemonOptions) -> anyhow::Result<Option<Join>> {
    let Some(hub) = &options.join else { return Ok(None) };
    let endpoint = hub.parse().with_context(|| format!("--join `{hub}`"))?;
    let token = secret::token(None, options.join_token_file.as_deref(), secret::JOIN_TOKEN_VARIABLE)?;
    let token = token.context("joining a hub needs its token: --join-token-file or TOMBOLO_JOIN_TOKEN")?;
    let token: client::Token = token.reveal().parse().context("the join token cannot be used")?;
    Ok(Some(Join { hub: Client::new(endpoint, Some(&token))?, name: options.join_as.clone() }))
}
