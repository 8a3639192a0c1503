//! `tombolo agents`: installs and lists agents without a daemon.

mod local;

use std::path::{Path, PathBuf};

use agent_catalog::{InstallSection, SearchPath, UserEnvironment};
use agent_install::{Config, Mirror};
use clap::Args;

pub(crate) use local::{AgentsOptions, run};

use crate::{
    environment::{variable, variables},
    secret, storage,
};

/// Variables that name files with additional CA certificates; other tools use them too.
const CERTIFICATE_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];

/// Where agents are downloaded from.
#[derive(Debug, Clone, Args)]
pub(crate) struct InstallOptions {
    /// Download agents from this mirror first: a URL with files by host and path below it, or
    /// PREFIX=URL for download URLs that begin with PREFIX; may be repeated
    #[arg(long, value_name = "[PREFIX=]URL", value_parser = Mirror::parse)]
    mirror: Vec<Mirror>,
    /// Use this ACP registry instead of the built-in one
    #[arg(long, value_name = "URL")]
    acp_registry: Option<String>,
}

/// The installer configuration, from the command line and the `[install]` section of the configuration file.
pub(crate) fn config(
    data_dir: &Path,
    options: &InstallOptions,
    section: &InstallSection,
    allowed: bool,
) -> anyhow::Result<Config> {
    let section_mirrors = section.mirrors.iter().map(|text| Mirror::parse(text).map_err(anyhow::Error::msg));
    let mut mirrors = options.mirror.clone();
    for mirror in section_mirrors {
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
        environment: UserEnvironment {
            variables: variables(),
            home: storage::home(),
            project: std::env::current_dir().ok(),
        },
        search_path: SearchPath::new(variable("PATH").unwrap_or_default()),
        env_remove: vec![secret::TOKEN_VARIABLE.into()],
    })
}
