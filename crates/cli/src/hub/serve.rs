//! `tombolo hub` without more: serves.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use hub::{BACKLOG, Config, Hub};

use crate::{
    memory,
    serving::{Farewell, greet, log},
    storage::data_dir,
    traces::TraceOptions,
};

/// How long a connection may be silent or refuse to read before it is closed.
const STALL: Duration = Duration::from_secs(30);

/// What the hub is called in traces.
const SERVICE: &str = "tombolo-hub";

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
    /// What is logged to stderr: a level, or levels by part
    #[arg(long, default_value = "info", env = "TOMBOLO_LOG", value_name = "FILTER")]
    log: String,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Serves until a signal ends it.
pub(super) fn run(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    memory::return_what_is_freed();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let export = options.traces.export(SERVICE, runtime.handle())?;
    log(&options.log, export.as_ref())?;
    let config = config(options)?;
    let served = runtime.block_on(until_a_signal(&config));
    if let Some(export) = export {
        export.end();
    }
    served?;
    Ok(ExitCode::SUCCESS)
}

async fn until_a_signal(config: &Config) -> anyhow::Result<()> {
    let signals = Farewell::listen()?;
    let mut hub = Hub::bind(config).await?;
    greet(&format!("listening on http://{}", hub.address()?));
    if let Some(token) = hub.take_new_token() {
        greet(&format!("token, shown only now: {}", token.reveal()));
    }
    signals.end(|stop| hub.serve(stop)).await;
    Ok(())
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
        stall: STALL,
    })
}
