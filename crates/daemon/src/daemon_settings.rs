//! The settings of a daemon and their defaults. They are declared here and nowhere else: `tombolo daemon` flattens
//! [`DaemonSettings`] into its command line, and [`Config`](crate::Config) holds the parsed values.

use std::{num::NonZeroU64, path::PathBuf, time::Duration};

use clap::{Args, Parser};
use server::CorsConfig;

/// The port that a daemon listens on by default.
pub const DEFAULT_PORT: u16 = 2468;

const DEFAULT_EVENTS_MAX: NonZeroU64 = NonZeroU64::new(4096).unwrap();
const DEFAULT_EVENTS_BYTES_MAX: NonZeroU64 = NonZeroU64::new(16 << 20).unwrap();

/// Settings of a daemon, which are options of `tombolo daemon`. The comments are their help texts.
#[derive(Debug, Clone, Args)]
pub struct DaemonSettings {
    /// Confine `/v1/fs` to this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub fs_root: Option<PathBuf>,
    /// Accept requests whose `Host` has this name, besides the names of the loopback; may be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,
    /// Let web pages of this origin use the daemon, or of all origins with `*`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub cors_allow_origin: Vec<String>,
    /// Let such pages use this method; may be repeated
    #[arg(long, value_name = "METHOD")]
    pub cors_allow_method: Vec<String>,
    /// Let such pages send this header; may be repeated
    #[arg(long, value_name = "HEADER")]
    pub cors_allow_header: Vec<String>,
    /// Let such pages send credentials
    #[arg(long)]
    pub cors_allow_credentials: bool,
    /// Keep at most this many events of each ACP instance for replay
    #[arg(long, default_value_t = DEFAULT_EVENTS_MAX, value_name = "EVENTS")]
    pub events_max: NonZeroU64,
    /// Keep at most this many bytes of events of each ACP instance for replay
    #[arg(long, default_value_t = DEFAULT_EVENTS_BYTES_MAX, value_name = "BYTES")]
    pub events_bytes_max: NonZeroU64,
    /// Kill an agent or process that takes longer than this to exit
    #[arg(long, default_value = "2s", value_name = "DURATION", value_parser = human_duration::parse)]
    grace: Duration,
    /// Let a request wait at most this long for an agent; also the default
    #[arg(long, default_value = "10m", value_name = "DURATION", value_parser = human_duration::parse)]
    timeout_max: Duration,
    /// Expire a question of an agent that no person answers within this time; 0 to wait forever
    #[arg(long, default_value = "24h", value_name = "DURATION", value_parser = duration_or_seconds)]
    wait_timeout: Duration,
    /// Stop the agent of a session that was idle for this long; the next message starts it again
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = duration_or_seconds)]
    pub session_idle: Duration,
    /// Close a connection whose client sends or reads nothing for this long
    #[arg(long, default_value = "30s", value_name = "DURATION", value_parser = human_duration::parse)]
    stall_timeout: Duration,
    #[command(flatten)]
    deprecated: DeprecatedSettings,
}

/// Former spellings, which are hidden but accepted. Using one prints its replacement.
#[derive(Debug, Clone, Args)]
struct DeprecatedSettings {
    /// Deprecated: use --grace, for example --grace 2s
    #[arg(long, hide = true, conflicts_with = "grace", value_name = "MS")]
    grace_ms: Option<u64>,
    /// Deprecated: use --timeout-max, for example --timeout-max 10m
    #[arg(long, hide = true, conflicts_with = "timeout_max", value_name = "MS")]
    timeout_max_ms: Option<u64>,
    /// Deprecated: use --stall-timeout, for example --stall-timeout 30s
    #[arg(long, hide = true, conflicts_with = "stall_timeout", value_name = "MS")]
    stall_ms: Option<u64>,
}

impl DaemonSettings {
    /// How long an agent or process may take to exit by itself before it is killed.
    pub fn grace(&self) -> Duration {
        self.deprecated.grace_ms.map_or(self.grace, Duration::from_millis)
    }

    /// How long a request may wait for an agent, at most and by default.
    pub fn timeout_max(&self) -> Duration {
        self.deprecated.timeout_max_ms.map_or(self.timeout_max, Duration::from_millis)
    }

    /// How long a person may take to answer a question of an agent; `None` for any time.
    pub fn wait_timeout(&self) -> Option<Duration> {
        Some(self.wait_timeout).filter(|timeout| !timeout.is_zero())
    }

    /// How long a client may send nothing, or read nothing, before its connection is closed.
    pub fn stall_timeout(&self) -> Duration {
        self.deprecated.stall_ms.map_or(self.stall_timeout, Duration::from_millis)
    }

    /// Which web pages of other origins may use the daemon.
    pub fn cors(&self) -> CorsConfig {
        CorsConfig {
            origins: self.cors_allow_origin.clone(),
            methods: self.cors_allow_method.clone(),
            headers: self.cors_allow_header.clone(),
            credentials: self.cors_allow_credentials,
        }
    }
}

impl Default for DaemonSettings {
    /// The settings of an empty command line.
    fn default() -> Self {
        #[derive(Parser)]
        struct OnlySettings {
            #[command(flatten)]
            settings: DaemonSettings,
        }
        OnlySettings::parse_from(["daemon"]).settings
    }
}

/// Parses a duration, or a number of seconds as earlier versions accepted it.
fn duration_or_seconds(text: &str) -> Result<Duration, &'static str> {
    match text.parse() {
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) => human_duration::parse(text),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn parse(arguments: &[&str]) -> Result<DaemonSettings, clap::Error> {
        let command = DaemonSettings::augment_args(Command::new("daemon").no_binary_name(true));
        DaemonSettings::from_arg_matches(&command.try_get_matches_from(arguments)?)
    }

    #[test]
    fn defaults_need_no_arguments() {
        let settings = DaemonSettings::default();
        assert_eq!(settings.grace(), Duration::from_secs(2));
        assert_eq!(settings.timeout_max(), Duration::from_secs(600));
        assert_eq!(settings.wait_timeout(), Some(Duration::from_secs(24 * 60 * 60)));
        assert_eq!(settings.stall_timeout(), Duration::from_secs(30));
        assert_eq!(settings.session_idle, Duration::from_secs(30 * 60));
        assert_eq!((settings.events_max.get(), settings.events_bytes_max.get()), (4096, 16_777_216));
    }

    #[test]
    fn milliseconds_are_still_accepted_under_the_old_names() {
        let settings = parse(&["--grace-ms=50", "--timeout-max-ms", "70", "--stall-ms=90"]).unwrap();
        assert_eq!(settings.grace(), Duration::from_millis(50));
        assert_eq!(settings.timeout_max(), Duration::from_millis(70));
        assert_eq!(settings.stall_timeout(), Duration::from_millis(90));
        assert!(parse(&["--grace-ms=50", "--grace=1s"]).is_err());
    }

    #[test]
    fn a_number_of_seconds_is_still_accepted_where_it_was() {
        let settings = parse(&["--wait-timeout=90", "--session-idle", "0"]).unwrap();
        assert_eq!(settings.wait_timeout(), Some(Duration::from_secs(90)));
        assert_eq!(settings.session_idle, Duration::ZERO);
        assert_eq!(parse(&["--wait-timeout=0"]).unwrap().wait_timeout(), None);
        assert!(parse(&["--stall-timeout=90"]).is_err());
    }
}
