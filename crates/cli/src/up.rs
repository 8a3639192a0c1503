//! `tombolo up`: a daemon and a hub in one process, for one machine.

mod greeting;
mod program;

use std::{path::Path, process::ExitCode};

use clap::Args;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use crate::{
    daemon::{self, DaemonOptions, ResolvedOptions, serve},
    daemon_token,
    hub::{DEFAULT_PORT, local_config},
    serving::{self, ShutdownSignals, print_line},
    storage,
    traces::TraceOptions,
};
use greeting::UpGreeting;
use program::Program;

/// The service name in traces.
const SERVICE_NAME: &str = "tombolo-up";

/// The name of the daemon as a runtime of the hub.
const LOCAL_RUNTIME: &str = "local";

/// Start a daemon and a hub on this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Starts a daemon, and a hub with the daemon as its runtime `local`. Both listen on the loopback
address only. The daemon generates a token, which commands of the same user find by themselves; the
hub prints its token on the first start, and `tombolo hub tokens recover` makes another one. Agents
run as your user, without a sandbox. Ctrl-C stops both servers and all agents.

Examples:
  tombolo up
  tombolo up --port 0 --config agents.toml")]
pub(crate) struct UpOptions {
    /// Let the daemon listen on this port; 0 picks a free one
    #[arg(long, default_value_t = ::daemon::DEFAULT_PORT)]
    port: u16,
    /// Let the hub listen on this port; 0 picks a free one [default: 2470, or 0 with --port 0]
    #[arg(long)]
    hub_port: Option<u16>,
    /// Read your own agents from this configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Store the files of the daemon and the hub in this directory
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<std::path::PathBuf>,
    /// Let every user of this machine use the daemon, without a token
    #[arg(long)]
    no_token: bool,
    /// How the printed commands start this program, if not by its path: `npx tombolo`
    #[arg(long, env = "TOMBOLO_RUN_AS", hide = true)]
    run_as: Option<String>,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Runs both servers until SIGTERM or SIGINT, after printing example commands.
pub(crate) fn run(options: UpOptions, program: &Path) -> anyhow::Result<ExitCode> {
    let UpOptions { port, hub_port, config, data_dir, no_token, run_as, traces } = options;
    let program = Program::find(program, run_as);
    let options = DaemonOptions { port, config, data_dir, no_token, ..DaemonOptions::default() };
    serving::run(SERVICE_NAME, &options.log, &traces, || {
        let daemon = daemon::resolve(&options)?;
        let hub = local_config(
            &daemon.config.data_dir,
            hub_port.unwrap_or(if port == 0 { 0 } else { DEFAULT_PORT }),
        );
        Ok(serve_until_signal(daemon, hub, program))
    })
}

async fn serve_until_signal(
    options: ResolvedOptions,
    hub: ::hub::Config,
    program: Program,
) -> anyhow::Result<()> {
    let signals = ShutdownSignals::listen()?;
    let hub_directory = std::path::absolute(&hub.data_dir)?;
    let daemon = ::daemon::DaemonServer::bind(&options.config).await;
    let daemon = daemon.map_err(|error| serving::explain_taken_port(error, "--port"))?;
    let hub = ::hub::Hub::bind(&hub).await;
    let mut hub = hub.map_err(|error| serving::explain_taken_port(error, "--hub-port"))?;
    hub.attach(LOCAL_RUNTIME.parse()?, daemon.in_process_service())?;
    let token = hub.take_new_token();
    let address = daemon.address()?;
    let data_dir = &options.config.data_dir;
    let record = options.token.publish(data_dir, address).await;
    let greeting = UpGreeting {
        daemon: address,
        hub: hub.address()?,
        program,
        directory: options.config.current_dir.clone(),
        token: options.token,
        // In another terminal, a relative path would be another file.
        token_file: std::path::absolute(daemon_token::path(data_dir))?,
        hub_directory,
        is_default_directory: storage::data_dir(None).ok().as_ref() == Some(data_dir),
    };
    print_line(&greeting.text(token.as_ref().map(|token| token.expose_secret())));
    // Stop the hub first: its viewers get a proper close before the daemon that they watch goes away.
    let stop_daemon = CancellationToken::new();
    let both = |stop| async {
        let hub = async {
            hub.serve(stop).await;
            stop_daemon.cancel();
        };
        tokio::join!(hub, serve(daemon, record, stop_daemon.clone()))
    };
    signals.run_until_signal(both).await;
    Ok(())
}
