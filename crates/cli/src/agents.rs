//! `tombolo agents`: the agents of this machine, without a daemon.

use std::path::{Path, PathBuf};

use ::agents::{
    SearchPath,
    install::{Config, Environment, Mirror},
};
use clap::Args;

use crate::{
    environment::{variable, variables},
    secret, storage,
};

/// Variables that name files of certificates, which other tools trust besides the system's.
const CERTIFICATE_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];

/// How agents are installed.
#[derive(Debug, Clone, Args)]
pub(crate) struct InstallOptions {
    /// Where to fetch agents from first: a URL below which everything is by host and path, or
    /// PREFIX=URL for what begins with that prefix; may be repeated
    #[arg(long, value_name = "[PREFIX=]URL", value_parser = Mirror::parse)]
    pub(crate) mirror: Vec<Mirror>,
}

/// How agents are installed on this machine.
pub(crate) fn config(data_dir: &Path, options: &InstallOptions, allowed: bool) -> anyhow::Result<Config> {
    Ok(Config {
        directory: data_dir.join("agents"),
        cache: storage::cache_dir(),
        allowed,
        mirrors: options.mirror.clone(),
        certificates: CERTIFICATE_VARIABLES
            .iter()
            .filter_map(|name| variable(name))
            .map(PathBuf::from)
            .collect(),
        environment: Environment {
            variables: variables(),
            home: storage::home(),
            project: std::env::current_dir().ok(),
        },
        search_path: SearchPath::new(variable("PATH").unwrap_or_default()),
        env_remove: vec![secret::TOKEN_VARIABLE.into()],
    })
}
