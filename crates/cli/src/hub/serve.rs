//! `tombolo hub` without more: serves.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    num::{NonZeroU32, NonZeroU64},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::{Args, builder::RangedU64ValueParser};
use hub::{BACKLOG, Config, Files, Hub, Pace, Rate, Retention};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    serving::{self, Farewell, greet},
    storage::data_dir,
    traces::TraceOptions,
};

/// How long a connection may be silent or refuse to read before it is closed.
const STALL: Duration = Duration::from_secs(30);

/// The port that a hub listens on unless it is told otherwise.
pub(crate) const PORT: u16 = 2470;

/// What the hub is called in traces.
const SERVICE: &str = "tombolo-hub";

/// Where the hub keeps its own files, below those of the daemon.
const DIRECTORY: &str = "hub";

/// Somebody who mistypes is not in the way; who guesses gets nowhere.
const FAILURES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(30).unwrap();

/// More than any person or page needs, and less than what would keep others waiting.
const REQUESTS_PER_SECOND: NonZeroU32 = NonZeroU32::new(500).unwrap();

/// The largest message of the relay, unless somebody says otherwise: what our devices send fits in it.
const FRAME_BYTES_MAX: u32 = 1 << 20;

/// How large it may be made: each connection may hold some of them.
const FRAME_BYTES_MOST: u32 = 16 << 20;

/// Long enough for somebody who is called from elsewhere; agents do not wait for ever either.
const APPROVAL_SECONDS: NonZeroU32 = NonZeroU32::new(600).unwrap();
const APPROVAL_MAX: Duration = Duration::from_secs(600);

/// For how many seconds a token may ask at once.
const BURST_SECONDS: u32 = 10;

/// How the hub runs.
#[derive(Debug, Args)]
pub(super) struct ServeOptions {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// The port to listen on; 0 for any that is free
    #[arg(long, default_value_t = PORT)]
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
    /// A file that names runtimes, as JSON, besides those that are added; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    runtimes: Option<PathBuf>,
    /// How many events of each worker are kept for those who come back
    #[arg(long, default_value_t = BACKLOG.events, value_name = "EVENTS")]
    backlog_max: NonZeroU64,
    /// How many bytes of each worker are kept for those who come back
    #[arg(long, default_value_t = BACKLOG.bytes, value_name = "BYTES")]
    backlog_bytes_max: NonZeroU64,
    /// A file that says what is hidden from whom, as JSON; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// How many tokens that are no good, and names that are not ours, may come from one address in a minute
    #[arg(long, default_value_t = FAILURES_PER_MINUTE, value_name = "COUNT")]
    failures_per_minute: NonZeroU32,
    /// How many requests may come with one token in a second; of ten seconds all may come at once
    #[arg(long, default_value_t = REQUESTS_PER_SECOND, value_name = "COUNT")]
    requests_per_second: NonZeroU32,
    /// Where runtimes find the hub, for sessions that use a device [default: where it listens]
    #[arg(long, value_name = "URL", value_parser = url)]
    public_url: Option<String>,
    /// How long somebody may take to approve what is asked of a device; then it is not done
    #[arg(long, default_value_t = APPROVAL_SECONDS, value_name = "SECONDS")]
    approval_seconds: NonZeroU32,
    /// The largest message of a device, and of a runtime that uses one, in each direction
    #[arg(long, default_value_t = FRAME_BYTES_MAX, value_parser = frame_bytes(), value_name = "BYTES")]
    relay_frame_bytes_max: u32,
    /// What is logged to stderr: a level, or levels by part
    #[arg(long, default_value = "info", env = "TOMBOLO_LOG", value_name = "FILTER")]
    log: String,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Serves until a signal ends it.
pub(super) fn run(options: &ServeOptions) -> anyhow::Result<ExitCode> {
    serving::run(SERVICE, (&options.log, &options.traces), || Ok(until_a_signal(config(options)?)))
}

async fn until_a_signal(config: Config) -> anyhow::Result<()> {
    let signals = Farewell::listen()?;
    // Before it is told that the hub is there: who has been told may hang up.
    let has_files = config.policy.is_some() || config.runtimes.is_some();
    let hangups = has_files.then(|| signal(SignalKind::hangup())).transpose();
    let hangups = hangups.context("could not listen for signals")?;
    let mut hub = Hub::bind(&config).await?;
    greet(&format!("listening on http://{}", hub.address()?));
    if let Some(token) = hub.take_new_token() {
        greet(&format!("token, shown only now: {}", token.reveal()));
    }
    let files = hub.files();
    let serve = |stop| async {
        tokio::select! {
            () = hub.serve(stop) => {}
            () = read_again(&files, hangups) => {}
        }
    };
    signals.end(serve).await;
    Ok(())
}

/// Reads the files again at each hang-up, for ever. Without any a hang-up ends the hub, as it would any program.
async fn read_again(files: &Files, mut hangups: Option<Signal>) {
    while let Some(hangups) = &mut hangups
        && hangups.recv().await.is_some()
    {
        files.read_again();
    }
    std::future::pending().await
}

fn frame_bytes() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(u64::from(FRAME_BYTES_MAX)..=u64::from(FRAME_BYTES_MOST))
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
        runtimes: options.runtimes.clone(),
        backlog: Retention { events: options.backlog_max, bytes: options.backlog_bytes_max },
        policy: options.policy.clone(),
        pace: Pace::default(),
        failures: failures(options.failures_per_minute),
        requests: requests(options.requests_per_second),
        public_url: options.public_url.clone(),
        approval_max: Duration::from_secs(options.approval_seconds.get().into()),
        frame_bytes_max: options.relay_frame_bytes_max as usize,
        stall: STALL,
    })
}

/// How a hub runs that has its files below those of a daemon in the same process, for this machine only.
pub(crate) fn beside(data_dir: &Path, port: u16) -> Config {
    Config {
        address: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port),
        hosts: Vec::new(),
        cors: server::CorsConfig::default(),
        data_dir: data_dir.join(DIRECTORY),
        runtimes: None,
        backlog: BACKLOG,
        policy: None,
        pace: Pace::default(),
        failures: failures(FAILURES_PER_MINUTE),
        requests: requests(REQUESTS_PER_SECOND),
        public_url: None,
        approval_max: APPROVAL_MAX,
        frame_bytes_max: FRAME_BYTES_MAX as usize,
        stall: STALL,
    }
}

/// An address without anything after it.
fn url(text: &str) -> Result<String, String> {
    text.parse::<client::Endpoint>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn failures(per_minute: NonZeroU32) -> Rate {
    Rate { burst: per_minute.get(), every: Duration::from_secs(60) / per_minute.get() }
}

fn requests(per_second: NonZeroU32) -> Rate {
    let burst = per_second.get().saturating_mul(BURST_SECONDS);
    Rate { burst, every: Duration::from_secs(1) / per_second.get() }
}
