//! The configuration of a daemon. The CLI builds it once, from the command line and the configuration file.

use std::{collections::BTreeMap, ffi::OsString, net::SocketAddr, path::PathBuf};

use agent_catalog::UserAgent;
use agent_install as install;
use protocol::AgentName;
use secrecy::{ExposeSecret, SecretString};
use server::InvalidCors;

use crate::{DaemonSettings, HubJoin};

/// Shorter tokens are easy to guess.
const TOKEN_BYTES_MIN: usize = 8;

/// The configuration of a daemon.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address to listen on.
    pub address: SocketAddr,
    /// Which clients may use the daemon.
    pub access: DaemonAccess,
    /// Whether a daemon without a token may listen on addresses other than the loopback.
    pub allow_open_network: bool,
    /// The directory for the daemon's own files.
    pub data_dir: PathBuf,
    /// The program that contains the mock agent: the daemon's own.
    pub own_program: PathBuf,
    /// The directory that relative paths are resolved against.
    pub current_dir: PathBuf,
    /// Variables of the daemon that its child processes do not inherit.
    pub env_remove: Vec<OsString>,
    /// Agents that the user defined.
    pub agents: BTreeMap<AgentName, UserAgent>,
    /// How agents are installed.
    pub install: install::Config,
    /// Limits and everything else that the command line sets directly.
    pub settings: DaemonSettings,
    /// The hub to join.
    pub join: Option<HubJoin>,
}

/// Which clients may use the daemon.
#[derive(Debug, Clone)]
pub enum DaemonAccess {
    /// Clients with this token.
    Token(DaemonToken),
    /// All clients that can reach it.
    Open,
}

/// A bearer token. Its `Debug` output hides the text, and its memory is zeroed when it is dropped.
#[derive(Debug, Clone)]
pub struct DaemonToken(SecretString);

impl DaemonToken {
    /// Checks a token, without the white space around it.
    pub fn new(text: &str) -> Result<Self, InvalidConfig> {
        let text = text.trim();
        if text.len() < TOKEN_BYTES_MIN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidConfig::Token);
        }
        Ok(Self(text.into()))
    }
}

impl ExposeSecret<str> for DaemonToken {
    fn expose_secret(&self) -> &str {
        self.0.expose_secret()
    }
}

/// The configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum InvalidConfig {
    /// The token is too short, or has characters that an HTTP header cannot carry.
    #[error("the token must have at least {TOKEN_BYTES_MIN} printable ASCII characters and no spaces")]
    Token,
    /// Without a token, all hosts on the network could use the daemon.
    #[error(
        "refusing to listen on {0} without a token: pass --token-file, or --no-token to allow every client that can \
         reach this address"
    )]
    OpenNetwork(SocketAddr),
    /// A CORS option is invalid.
    #[error(transparent)]
    Cors(#[from] InvalidCors),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_does_not_print_itself() {
        let token = DaemonToken::new(" secret-token\n").unwrap();
        assert_eq!(token.expose_secret(), "secret-token");
        assert!(!format!("{token:?}").contains("secret-token"));
        assert!(DaemonToken::new("short").is_err() && DaemonToken::new("with a space").is_err());
    }
}
