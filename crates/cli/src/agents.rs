//! `tombolo agents`: the agents of this machine, without a daemon.

mod local;

use std::path::{Path, PathBuf};

use ::agents::{
    SearchPath,
    install::{Config, Environment, Mirror},
};
use clap::Args;
use daemon::InstallSection;

pub(crate) use local::{AgentsOptions, run};

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
    mirror: Vec<Mirror>,
    /// An ACP registry to use in place of the one that is part of this program
    #[arg(long, value_name = "URL")]
    acp_registry: Option<String>,
}

/// How agents are installed on this machine.
pub(crate) fn config(
    data_dir: &Path,
    options: &InstallOptions,
    section: &InstallSection,
    allowed: bool,
) -> anyhow::Result<Config> {
    let more = section.mirrors.iter().map(|text| Mirror::parse(text).map_err(anyhow::Error::msg));
    let mut mirrors = options.mirror.clone();
    for mirror in more {
        mirrors.push(mirror?);
    }
    let certificates = CERTIFICATE_VARIABLES.iter().filter_map(|name| variable(name));
    Ok(Config {
        directory: data_dir.join("agents"),
        cache: storage::cache_dir(),
        allowed,
        mirrors,
        acp_registry: options.acp_registry.clone().or_else(|| section.acp_registry.clone()),
        certificates: certificates.map(PathBuf::from).collect(),
        silence_max: None,
        environment: Environment {
            variables: variables(),
            home: storage::home(),
            project: std::env::current_dir().ok(),
        },
        search_path: SearchPath::new(variable("PATH").unwrap_or_default()),
        env_remove: vec![secret::TOKEN_VARIABLE.into()],
    })
}
