//! `tombolo device connect`: connect to a hub and serve its requests until stopped.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use device::{
    Built, Consent, ControlSocket, DeviceConfig, Home, Kept, Ledger, Link, Nobody, Standing, Surroundings,
    Unwanted,
};
use relay::Limits;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    console::{self, DeviceConsole},
    lend_options::LendOptions,
    local_device::LocalDevice,
    service,
    status_reporter::status_reporter,
};
use crate::{
    environment,
    exit::{self, CommandError, CommandResult, local},
    serving::{self, ShutdownSignals},
    traces::TraceOptions,
};

/// The service name in traces.
const SERVICE: &str = "tombolo-device";

/// Connect to a hub and lend what you name until you stop it
#[derive(Debug, Args)]
#[command(after_help = "\
The options can be set in a file:
  hub = \"https://hub.example\"
  tools = \"tools.toml\"
  [roots]
  main = \"~/code:rw\"
  docs = { path = \"~/docs\", mode = \"ro\", label = \"Documents\" }
  [shell]
  env = [\"LANG\"]
  network = \"none\"
  on_disconnect = \"kill\"
  [rules]
  writes = \"ask_once\"
  commands = \"always_ask\"

Approvals are requested in the terminal that this runs in; without a terminal, requests that need an
approval are rejected. While no question is open, type `status`, `pause`, `resume`, `forget` or
`stop`.

Examples:
  tombolo device connect https://hub.example --root main=~/code:rw --shell --ask commands=always_ask
  tombolo device connect --config device.toml
  TOMBOLO_DEVICE_TOKEN=… tombolo device connect https://hub.example --root docs=~/docs:ro")]
pub(super) struct ConnectOptions {
    /// URL of the hub [default: the one in the configuration file, or the one the device was paired with]
    hub: Option<String>,
    #[command(flatten)]
    lend: LendOptions,
    /// File that contains the device token; not needed after pairing [env: TOMBOLO_DEVICE_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Directory for the device's own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Log filter: a level, or `target=level` pairs
    #[arg(long, env = "TOMBOLO_LOG", hide_env_values = true, default_value = "error", value_name = "FILTER")]
    log: String,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Serves requests until the owner, the hub or a signal stops it.
pub(super) fn run(options: &ConnectOptions) -> ExitCode {
    let mut outcome = Ok(());
    let doing = format!("connecting to {}", options.hub.as_deref().unwrap_or("the hub"));
    let ran = serving::run(SERVICE, &options.log, &options.traces, || {
        Ok(async {
            outcome = serve(options).await;
            Ok(())
        })
    });
    match ran {
        Ok(_) => exit::report(outcome, false, &doing),
        Err(error) => exit::code(Err(error)),
    }
}

/// Files of the device that lie outside its data directory. They must not be lent to agents.
pub(super) struct ExternalFiles<'a> {
    pub(super) config: Option<&'a Path>,
    pub(super) token: Option<&'a Path>,
}

/// Builds the device from its configuration.
pub(super) async fn build_device(
    config: &DeviceConfig,
    home: &Home,
    files: ExternalFiles<'_>,
    consent: Consent,
    ledger: Option<Ledger>,
) -> Result<Built, CommandError> {
    let program = std::env::current_exe().map_err(|error| local("find this program", error))?;
    let unit = service::installed_unit();
    let surroundings = Surroundings {
        home,
        config: files.config,
        token: files.token,
        unit: unit.as_deref(),
        program: &program,
        environment: environment::without_secrets(),
    };
    let built = device::build(config, surroundings, consent, ledger).await;
    built.map_err(|error| CommandError::Usage(protocol::ErrorChain(&error).to_string()))
}

async fn serve(options: &ConnectOptions) -> CommandResult {
    let signals = ShutdownSignals::listen().map_err(CommandError::Local)?;
    let config = options.lend.config(options.hub.as_deref())?;
    let device = LocalDevice::select(config.client_id.clone(), options.data_dir.as_deref())?;
    let hub = device.hub_client(&config, options.token_file.as_deref())?;
    let LocalDevice { client_id, home } = device;
    let local_failure = |error: &(dyn std::error::Error + 'static)| {
        CommandError::Local(anyhow::anyhow!(protocol::ErrorChain(error).to_string()))
    };
    let _lock = home.claim().map_err(|error| local_failure(&error))?;
    let ledger = Ledger::open(&home.audit(), client_id.clone(), Kept::default())
        .map_err(|error| local_failure(&error))?;
    // Become the subreaper before any child starts. Otherwise processes that an unsandboxed command or tool leaves behind
    // would be adopted by init, and could not be killed when the device stops.
    let orphans = process::OrphanReaper::enable().map_err(|error| local("take in orphans", error))?;
    let (prompt, questions) = console::prompt();
    let consent = if console::is_interactive() {
        Consent::new(config.rules.clone(), prompt)
    } else {
        Consent::new(config.rules.clone(), Nobody)
    };
    let files =
        ExternalFiles { config: options.lend.config.as_deref(), token: options.token_file.as_deref() };
    let Built { device, workshop } = build_device(&config, &home, files, consent, Some(ledger)).await?;
    if config.shell.is_some() && device.offer().shell.is_none() {
        exit::say(
            "commands are not lent, because no sandbox is available; install bubblewrap, or pass --unsandboxed to lend them without one",
        );
    }
    let socket = ControlSocket::bind(&home.socket())
        .map_err(|error| local(&format!("listen on `{}`", home.socket().display()), error))?;
    let (standing_sender, standing) = watch::channel(Standing::default());
    let report_status = status_reporter(&device, &config, &client_id, &hub.endpoint().to_string(), &standing);
    let console = DeviceConsole::new(&device, standing, report_status.clone(), questions);
    let controlled_device = device.clone();
    let stopping_device = device.clone();
    let link = Link { hub, client_id, device, limits: Limits::default() };

    let disconnected = CancellationToken::new();
    let finished = CancellationToken::new();
    let mut link_outcome = Ok(());
    let serve_hub = |stop: CancellationToken| async {
        let serve_link = async {
            // Spawned, so that the link runs on the worker thread that also serves its requests: handing each request from
            // the main thread to a worker would cost a wake-up.
            let mut link_task = JoinSet::new();
            link_task.spawn(link.keep(standing_sender, stop));
            // Nothing aborts the task, and a panic aborts the whole process, so it always yields a result.
            link_outcome = link_task.join_next().await.and_then(Result::ok).unwrap_or(Ok(()));
            disconnected.cancel();
            stopping_device.end().await;
        };
        tokio::join!(serve_link, workshop.keep(disconnected.clone()));
        // Close the control socket last: `tombolo device stop` waits for its connection to close as the sign that every
        // command and tool has ended.
        finished.cancel();
    };
    tokio::join!(
        signals.run_until_signal(serve_hub),
        socket.serve(controlled_device, report_status, finished.clone()),
        console.run(finished.clone()),
        finished.run_until_cancelled(orphans.reap_orphans()),
    );
    link_outcome.map_err(|unwanted| match unwanted {
        Unwanted::NotLetIn(error) => CommandError::from(error),
        Unwanted::NotAccepted(_) => CommandError::NotAccepted(unwanted.to_string()),
    })
}
