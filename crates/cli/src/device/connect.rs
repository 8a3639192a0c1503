//! `tombolo device connect`.

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
    console::{self, Console},
    lend::LendOptions,
    owned::{Bound, Owned},
    service,
    telling::telling,
};
use crate::{
    environment,
    exit::{self, Failure, Outcome, local},
    serving::{self, Farewell},
    traces::TraceOptions,
};

/// What the device is called in traces.
const SERVICE: &str = "tombolo-device";

/// How a device is lent.
#[derive(Debug, Args)]
#[command(after_help = "\
What is lent can be said in a file:
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

You are asked in the terminal that it runs in; without one, what would be asked is refused. While
nothing is asked, type `status`, `pause`, `resume`, `forget` or `stop` there.

Examples:
  tombolo device connect https://hub.example --root main=~/code:rw --shell --ask commands=always_ask
  tombolo device connect --config device.toml
  TOMBOLO_DEVICE_TOKEN=… tombolo device connect https://hub.example --root docs=~/docs:ro")]
pub(super) struct ConnectOptions {
    /// Where the hub is [default: the one that the file names, or that the device was paired with]
    hub: Option<String>,
    #[command(flatten)]
    lend: LendOptions,
    /// A file that holds the token of the device, if it was not paired [env: TOMBOLO_DEVICE_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Where the device keeps its own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// What to log: a level, or `target=level` pairs
    #[arg(long, env = "TOMBOLO_LOG", hide_env_values = true, default_value = "error", value_name = "FILTER")]
    log: String,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Lends until its owner, the hub or a signal ends it.
pub(super) fn run(options: &ConnectOptions) -> ExitCode {
    let mut outcome = Ok(());
    let doing = format!("connecting to {}", options.hub.as_deref().unwrap_or("the hub"));
    let ran = serving::run(SERVICE, (&options.log, &options.traces), || {
        Ok(async {
            outcome = lend(options).await;
            Ok(())
        })
    });
    match ran {
        Ok(_) => exit::report(outcome, false, &doing),
        Err(error) => exit::code(Err(error)),
    }
}

/// The files that say what a device is, besides its own.
pub(super) struct Files<'a> {
    pub(super) config: Option<&'a Path>,
    pub(super) token: Option<&'a Path>,
}

/// The device, put together as its owner wants it.
pub(super) async fn built(
    lent: &DeviceConfig,
    home: &Home,
    Files { config, token }: Files<'_>,
    consent: Consent,
    ledger: Option<Ledger>,
) -> Result<Built, Failure> {
    let program = std::env::current_exe().map_err(|error| local("find this program", error))?;
    let (unit, environment) = (service::installed(), environment::without_secrets());
    let surroundings =
        Surroundings { home, config, token, unit: unit.as_deref(), program: &program, environment };
    let built = device::build(lent, surroundings, consent, ledger).await;
    built.map_err(|error| Failure::Usage(protocol::Chain(&error).to_string()))
}

async fn lend(options: &ConnectOptions) -> Outcome {
    let signals = Farewell::listen().map_err(Failure::Local)?;
    let config = options.lend.config(options.hub.as_deref())?;
    let owned = Owned::meant(config.client_id.clone(), options.data_dir.as_deref())?;
    let Bound { device: Owned { client_id, home }, hub } =
        owned.bound(&config, options.token_file.as_deref())?;
    let here = |error: &(dyn std::error::Error + 'static)| {
        Failure::Local(anyhow::anyhow!(protocol::Chain(error).to_string()))
    };
    let _claim = home.claim().map_err(|error| here(&error))?;
    let ledger =
        Ledger::open(&home.audit(), client_id.clone(), Kept::default()).map_err(|error| here(&error))?;
    // Before anything is started: who is left by a command or a tool without a sandbox is found again.
    let orphans = process::Orphans::take_in().map_err(|error| local("take in orphans", error))?;
    let (prompt, questions) = console::prompt();
    let consent = match console::is_attended() {
        true => Consent::new(config.rules.clone(), prompt),
        false => Consent::new(config.rules.clone(), Nobody),
    };
    let files = Files { config: options.lend.config.as_deref(), token: options.token_file.as_deref() };
    let Built { device, workshop } = built(&config, &home, files, consent, Some(ledger)).await?;
    if config.shell.is_some() && device.offer().shell.is_none() {
        exit::say("there is no sandbox here, so no commands are lent; --unsandboxed lends them without");
    }
    let socket = ControlSocket::bind(&home.socket())
        .map_err(|error| local(&format!("listen on `{}`", home.socket().display()), error))?;
    let (stand, standing) = watch::channel(Standing::default());
    let telling = telling(&device, &config, &client_id, &hub.endpoint().to_string(), &standing);
    let console = Console::new(&device, standing, telling.clone(), questions);
    let (spoken_to, ending) = (device.clone(), device.clone());
    let link = Link { hub, client_id, device, limits: Limits::default() };

    let (away, over) = (CancellationToken::new(), CancellationToken::new());
    let mut kept = Ok(());
    let keep = |stop: CancellationToken| async {
        let lent = async {
            // On the thread that works on what is asked, which need not be woken for it then.
            let mut keeping = JoinSet::new();
            keeping.spawn(link.keep(stand, stop));
            // It is neither aborted nor does it outlive a panic.
            kept = keeping.join_next().await.and_then(Result::ok).unwrap_or(Ok(()));
            away.cancel();
            ending.end().await;
        };
        tokio::join!(lent, workshop.keep(away.clone()));
        // Who looks at it is sent away last: they see that everything has ended.
        over.cancel();
    };
    tokio::join!(
        signals.end(keep),
        socket.serve(spoken_to, telling, over.clone()),
        console.run(over.clone()),
        over.run_until_cancelled(orphans.bury()),
    );
    kept.map_err(|unwanted| match unwanted {
        Unwanted::NotLetIn(error) => Failure::from(error),
        Unwanted::NotAccepted(_) => Failure::NotAccepted(unwanted.to_string()),
    })
}
