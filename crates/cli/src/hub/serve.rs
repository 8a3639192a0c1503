//! `tombolo hub` without more: serves.

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use hub::{BACKLOG, Config, Hub, Pace, policy::Policies};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    memory,
    serving::{Farewell, greet, log},
    storage::data_dir,
};

/// How long a connection may be silent or refuse to read before it is closed.
const STALL: Duration = Duration::from_secs(30);

/// Where the hub keeps its own files, below those of the daemon.
const DIRECTORY: &str = "hub";

/// How the hub runs.
#[derive(Debug, Args)]
pub(super) struct ServeOptions {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// The port to listen on; 0 for any that is free
    #[arg(long, default_value_t = 2470)]
    port: u16,
    /// Where the hub keeps its own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// A name that `Host` may have, besides those of the loopback; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// An origin whose pages may use the hub, or `*`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    cors_allow_origin: Vec<String>,
    /// A file that says what is hidden from whom, as JSON; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// What is logged to stderr: a level, or levels by part
    #[arg(long, default_value = "info", env = "TOMBOLO_LOG", value_name = "FILTER")]
    log: String,
}

/// Serves until a signal ends it.
pub(super) fn run(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    memory::return_what_is_freed();
    log(&options.log)?;
    let config = config(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(until_a_signal(&config))?;
    Ok(ExitCode::SUCCESS)
}

async fn until_a_signal(config: &Config) -> anyhow::Result<()> {
    let signals = Farewell::listen()?;
    let mut hub = Hub::bind(config).await?;
    greet(&format!("listening on http://{}", hub.address()?));
    if let Some(token) = hub.take_new_token() {
        greet(&format!("token, shown only now: {}", token.reveal()));
    }
    let policies = hub.policies();
    let reload = read_again(config.policy.as_deref(), &policies)?;
    signals
        .end(|stop| async {
            tokio::select! {
                () = hub.serve(stop) => {}
                () = reload => {}
            }
        })
        .await;
    Ok(())
}

/// Reads the policy again at each hang-up, for ever. Without one a hang-up ends the hub, as it would any program.
fn read_again<'a>(
    policy: Option<&Path>,
    policies: &'a Policies,
) -> anyhow::Result<impl Future<Output = ()> + use<'a>> {
    let mut hangups = match policy {
        Some(_) => Some(signal(SignalKind::hangup()).context("could not listen for signals")?),
        None => None,
    };
    Ok(async move {
        while let Some(hangups) = &mut hangups
            && hangups.recv().await.is_some()
        {
            policies.reload();
        }
        std::future::pending().await
    })
}

fn config(options: &ServeOptions) -> anyhow::Result<Config> {
    let data_dir = match &options.data_dir {
        Some(directory) => directory.clone(),
        None => data_dir(None)?.join(DIRECTORY),
    };
    Ok(Config {
        address: SocketAddr::new(options.host, options.port),
        hosts: options.allow_host.clone(),
        cors: server::CorsConfig { origins: options.cors_allow_origin.clone(), ..Default::default() },
        data_dir,
        backlog: BACKLOG,
        policy: options.policy.clone(),
        pace: Pace::default(),
        stall: STALL,
    })
}
