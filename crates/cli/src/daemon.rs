//! `tombolo daemon`.

mod options;

use std::{net::SocketAddr, process::ExitCode, time::Duration};

use anyhow::Context;
use daemon::{Access, Config, ConfigFile, CorsConfig, Server, Token};

pub(crate) use options::DaemonOptions;

use crate::{
    agents, memory, secret,
    serving::{Farewell, greet, log},
    storage::data_dir,
};

/// What the daemon is called in traces.
const SERVICE: &str = "tombolo-daemon";

/// How long after its start a daemon returns what only that needed. The first answer needs much of the same.
const START: Duration = Duration::from_millis(200);

/// Serves until a signal ends it.
pub(crate) fn run(options: &DaemonOptions) -> anyhow::Result<ExitCode> {
    serve(options, |address| format!("listening on http://{address}"))
}

/// Serves until a signal ends it; `greeting` is printed once it does.
pub(crate) fn serve(
    options: &DaemonOptions,
    greeting: impl FnOnce(SocketAddr) -> String,
) -> anyhow::Result<ExitCode> {
    memory::return_what_is_freed();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers()).enable_all().build()?;
    let export = options.traces.export(SERVICE, runtime.handle())?;
    log(&options.log, export.as_ref())?;
    let config = config(options)?;
    let served = runtime.block_on(until_a_signal(&config, greeting));
    if let Some(export) = export {
        export.end();
    }
    served?;
    Ok(ExitCode::SUCCESS)
}

/// How many threads serve: one core is left to the agents. A thread more would wake and be woken for every message,
/// which on two cores costs a tenth of the time with many clients and a quarter with one.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1))
}

async fn until_a_signal(config: &Config, greeting: impl FnOnce(SocketAddr) -> String) -> anyhow::Result<()> {
    let signals = Farewell::listen()?;
    let bound = Server::bind(config).await?;
    greet(&greeting(bound.address()?));
    let tidying = async {
        tokio::time::sleep(START).await;
        memory::return_what_the_start_needed();
    };
    signals.end(|stop| async { tokio::join!(bound.serve(stop), tidying) }).await;
    Ok(())
}

fn config(options: &DaemonOptions) -> anyhow::Result<Config> {
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
        env_remove: vec![secret::TOKEN_VARIABLE.into(), secret::HUB_TOKEN_VARIABLE.into()],
        agents: file.agents,
        install,
        events_max: options.events_max,
        events_bytes_max: options.events_bytes_max,
        grace: Duration::from_millis(options.grace_ms),
        timeout_max: Duration::from_millis(options.timeout_max_ms),
        wait_timeout: Some(options.wait_timeout).filter(|timeout| !timeout.is_zero()),
        session_idle: options.session_idle,
        stall: Duration::from_millis(options.stall_ms),
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
