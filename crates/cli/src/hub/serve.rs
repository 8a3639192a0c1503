//! `tombolo hub` without a subcommand: runs a hub.

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
use secrecy::ExposeSecret;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    duration::{self, VALUE_NAME},
    serving::{self, ShutdownSignals, print_line},
    storage::data_dir,
    traces::TraceOptions,
};

/// A connection that neither sends nor reads for this long is closed.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The port that a hub listens on by default.
pub(crate) const DEFAULT_PORT: u16 = 2470;

/// The service name of the hub in traces.
const SERVICE_NAME: &str = "tombolo-hub";

/// The subdirectory of the data directory with the files of the hub.
const HUB_DIRECTORY: &str = "hub";

/// Failed authentications per address: a user who mistypes is not locked out, and guessing is hopeless.
const FAILURES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(30).unwrap();

/// Requests per token: more than a user or a web page sends, and too few to slow other users down.
const REQUESTS_PER_SECOND: NonZeroU32 = NonZeroU32::new(500).unwrap();

/// Default for the largest relay message; the frames of `tombolo device` are smaller.
const FRAME_BYTES_DEFAULT: u32 = 1 << 20;

/// Upper limit of `--relay-frame-bytes-max`: a connection may buffer several frames of that size.
const FRAME_BYTES_LIMIT: u32 = 16 << 20;

/// How long an approval stays open: a user may have to be called, but agents do not wait for ever either.
const APPROVAL_TIMEOUT: Duration = Duration::from_secs(600);

/// A token may use the requests of this many seconds in one burst.
const BURST_SECONDS: u32 = 10;

/// The options of a hub.
#[derive(Debug, Args)]
pub(super) struct HubServeOptions {
    /// Listen on this address
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// Listen on this port; 0 picks a free one
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Store the files of the hub in this directory
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Accept this host name in requests, besides the loopback names; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Let web pages of this origin (or `*`) use the hub; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    cors_allow_origin: Vec<String>,
    /// Add the runtimes of this JSON file; SIGHUP reloads it
    #[arg(long, value_name = "FILE")]
    runtimes: Option<PathBuf>,
    /// Keep this many events of each session for viewers that reconnect
    #[arg(long, default_value_t = BACKLOG.events, value_name = "EVENTS")]
    backlog_max: NonZeroU64,
    /// Keep this many bytes of events of each session for viewers that reconnect
    #[arg(long, default_value_t = BACKLOG.bytes, value_name = "BYTES")]
    backlog_bytes_max: NonZeroU64,
    /// Hide content from viewers by the rules of this JSON file; SIGHUP reloads it
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Allow one address this many requests per minute with a wrong token or an unknown host name
    #[arg(long, default_value_t = FAILURES_PER_MINUTE, value_name = "COUNT")]
    failures_per_minute: NonZeroU32,
    /// Allow one token this many requests per second; a burst may use those of ten seconds
    #[arg(long, default_value_t = REQUESTS_PER_SECOND, value_name = "COUNT")]
    requests_per_second: NonZeroU32,
    /// Give runtimes this URL of the hub, for sessions that use a device [default: the address it listens on]
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    public_url: Option<String>,
    /// Refuse a device request that is not approved within this time
    #[arg(long, default_value = "10m", value_name = VALUE_NAME, value_parser = duration::parse_positive)]
    approval_timeout: Duration,
    /// Deprecated: use --approval-timeout, for example --approval-timeout 10m
    #[arg(long, value_name = "SECONDS", hide = true)]
    approval_seconds: Option<NonZeroU32>,
    /// Give up on a runtime that does not begin a response within this time; requests that wait for an
    /// agent, a process or files have more
    #[arg(long, default_value = "30s", value_name = VALUE_NAME, value_parser = duration::parse_positive)]
    response_timeout: Duration,
    /// Limit relay messages to this many bytes, in both directions
    #[arg(long, default_value_t = FRAME_BYTES_DEFAULT, value_parser = frame_bytes_parser(), value_name = "BYTES")]
    relay_frame_bytes_max: u32,
    /// Log at this level, or at `target=level` pairs
    #[arg(long, default_value = "info", env = "TOMBOLO_LOG", value_name = "FILTER")]
    log: String,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Runs a hub until SIGTERM or SIGINT.
pub(super) fn run(options: &HubServeOptions) -> anyhow::Result<ExitCode> {
    serving::run(SERVICE_NAME, &options.log, &options.traces, || Ok(serve_until_signal(config(options)?)))
}

async fn serve_until_signal(config: Config) -> anyhow::Result<()> {
    let signals = ShutdownSignals::listen()?;
    // Handle SIGHUP before announcing the address: a supervisor may send it as soon as the hub is announced.
    let has_files = config.policy.is_some() || config.runtimes.is_some();
    let hangups = has_files.then(|| signal(SignalKind::hangup())).transpose();
    let hangups = hangups.context("could not listen for signals")?;
    let hub = Hub::bind(&config).await;
    let mut hub = hub.map_err(|error| serving::explain_taken_port(error, "--port"))?;
    print_line(&format!("listening on http://{}", hub.address()?));
    if let Some(token) = hub.take_new_token() {
        print_line(&format!("admin token, shown once: {}", token.expose_secret()));
    }
    let files = hub.files();
    let serve = |stop| async {
        tokio::select! {
            () = hub.serve(stop) => {}
            () = reload_on_hangup(&files, hangups) => {}
        }
    };
    signals.run_until_signal(serve).await;
    Ok(())
}

/// Reloads the files on each SIGHUP and never returns. Without files SIGHUP keeps its default action: the hub ends.
async fn reload_on_hangup(files: &Files, mut hangups: Option<Signal>) {
    while let Some(hangups) = &mut hangups
        && hangups.recv().await.is_some()
    {
        files.read_again();
    }
    std::future::pending().await
}

fn frame_bytes_parser() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(u64::from(FRAME_BYTES_DEFAULT)..=u64::from(FRAME_BYTES_LIMIT))
}

impl HubServeOptions {
    fn approval_timeout(&self) -> Duration {
        let seconds = self.approval_seconds.map(|seconds| Duration::from_secs(seconds.get().into()));
        seconds.unwrap_or(self.approval_timeout)
    }
}

fn config(options: &HubServeOptions) -> anyhow::Result<Config> {
    let data_dir = hub_directory(options.data_dir.as_deref())?;
    Ok(Config {
        address: SocketAddr::new(options.host, options.port),
        hosts: options.allow_host.clone(),
        cors: server::CorsConfig { origins: options.cors_allow_origin.clone(), ..Default::default() },
        data_dir,
        runtimes: options.runtimes.clone(),
        backlog: Retention { events: options.backlog_max, bytes: options.backlog_bytes_max },
        policy: options.policy.clone(),
        pace: Pace { response_timeout: options.response_timeout, ..Pace::default() },
        failures: failure_rate(options.failures_per_minute),
        requests: request_rate(options.requests_per_second),
        public_url: options.public_url.clone(),
        approval_max: options.approval_timeout(),
        frame_bytes_max: options.relay_frame_bytes_max as usize,
        stall: STALL_TIMEOUT,
    })
}

/// The directory of a hub: the one that the user chose, or the default.
pub(super) fn hub_directory(chosen: Option<&Path>) -> anyhow::Result<PathBuf> {
    match chosen {
        Some(directory) => Ok(directory.to_path_buf()),
        None => Ok(data_dir(None)?.join(HUB_DIRECTORY)),
    }
}

/// The configuration of the hub of `tombolo up`: on the loopback address, with its files below those of the daemon.
pub(crate) fn local_config(data_dir: &Path, port: u16) -> Config {
    Config {
        address: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port),
        hosts: Vec::new(),
        cors: server::CorsConfig::default(),
        data_dir: data_dir.join(HUB_DIRECTORY),
        runtimes: None,
        backlog: BACKLOG,
        policy: None,
        pace: Pace::default(),
        failures: failure_rate(FAILURES_PER_MINUTE),
        requests: request_rate(REQUESTS_PER_SECOND),
        public_url: None,
        approval_max: APPROVAL_TIMEOUT,
        frame_bytes_max: FRAME_BYTES_DEFAULT as usize,
        stall: STALL_TIMEOUT,
    }
}

/// Checks that a URL has no path, and keeps its text.
fn parse_url(text: &str) -> Result<String, String> {
    text.parse::<client::Endpoint>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn failure_rate(per_minute: NonZeroU32) -> Rate {
    Rate { burst: per_minute.get(), every: Duration::from_secs(60) / per_minute.get() }
}

fn request_rate(per_second: NonZeroU32) -> Rate {
    let burst = per_second.get().saturating_mul(BURST_SECONDS);
    Rate { burst, every: Duration::from_secs(1) / per_second.get() }
}
