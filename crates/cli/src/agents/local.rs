//! The commands of `tombolo agents`.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use agent_catalog::{Catalog, ConfigFile, Definition, Want};
use agent_install::{Ask, Cache, Installer, Manifest, UnverifiedPolicy};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use protocol::AgentName;

use super::{InstallOptions, config};
use crate::{
    exit,
    output::{or_dash, table, yes_no},
    progress, storage,
};

/// Install and list agents without a daemon.
#[derive(Debug, Args)]
#[command(after_help = "\
The agents are shared with a daemon that uses the same data directory.

Examples:
  tombolo agents list
  tombolo agents install claude codex
  tombolo agents bundle claude codex -o agents.tar.zst     on a machine with network access
  tombolo agents install --from agents.tar.zst             on a machine without it")]
pub(crate) struct AgentsOptions {
    #[command(subcommand)]
    command: AgentsCommand,
    /// Install agents below this directory, like --data-dir of the daemon
    #[arg(long, global = true, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Read this configuration file, like --config of the daemon
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// List all agents, with the version and path of installed ones and whether they were verified
    #[command(after_help = "Example:\n  tombolo agents list")]
    List {
        #[command(flatten)]
        options: InstallOptions,
    },
    /// Install agents that are missing
    #[command(after_help = "\
Examples:
  tombolo agents install claude codex
  tombolo agents install claude --version latest
  tombolo agents install --from agents.tar.zst")]
    Install {
        /// The agents; with --from the default is all agents of the bundle
        #[arg(required_unless_present = "from")]
        agents: Vec<AgentName>,
        /// Install this version, or `latest` [default: the version that Tombolo was tested with]
        #[arg(long, value_name = "VERSION", conflicts_with = "from")]
        version: Option<String>,
        /// Install again even if the agent is installed; download everything again
        #[arg(long)]
        reinstall: bool,
        /// Install files that have no checksum to verify them with
        #[arg(long)]
        allow_unverified: bool,
        /// Install from this bundle, without network access
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        #[command(flatten)]
        options: InstallOptions,
    },
    /// Pack agents and their dependencies into one file, for machines without network access
    #[command(after_help = "Example:\n  tombolo agents bundle claude codex -o agents.tar.zst")]
    Bundle {
        /// The agents
        #[arg(required = true)]
        agents: Vec<AgentName>,
        /// Write the bundle to this file
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
        /// Install and pack files that have no checksum to verify them with
        #[arg(long)]
        allow_unverified: bool,
        #[command(flatten)]
        options: InstallOptions,
    },
    /// Manage the cache of downloaded files
    Cache {
        #[command(subcommand)]
        command: AgentCacheCommand,
    },
}

#[derive(Debug, Subcommand)]
enum AgentCacheCommand {
    /// Delete all downloaded files; installed agents stay
    #[command(after_help = "Example:\n  tombolo agents cache clear")]
    Clear,
}

/// Runs `tombolo agents`.
pub(crate) fn run(options: AgentsOptions) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(run_command(options))?;
    Ok(ExitCode::SUCCESS)
}

async fn run_command(options: AgentsOptions) -> anyhow::Result<()> {
    let AgentsOptions { command, data_dir, config } = options;
    let installation = LocalInstallation { data_dir, config };
    match command {
        AgentsCommand::List { options } => list(&installation.installer(&options)?).await,
        AgentsCommand::Install { agents, version, reinstall, allow_unverified, from, options } => {
            let installer = installation.installer(&options)?;
            let unverified = UnverifiedPolicy::from_flag(allow_unverified);
            let agents = find(&installer, &agents).await?;
            match from {
                Some(bundle) => print_components(&installer.unbundle(&bundle, &agents, unverified).await?),
                None => {
                    let want = Want::parse(version.as_deref())?;
                    let ask = Ask { want, again: reinstall, apart: false, unverified };
                    install(&installer, &agents, &ask).await
                }
            }
        }
        AgentsCommand::Bundle { agents, output, allow_unverified, options } => {
            let installer = installation.installer(&options)?;
            let agents = find(&installer, &agents).await?;
            let unverified = UnverifiedPolicy::from_flag(allow_unverified);
            install(&installer, &agents, &Ask { apart: true, unverified, ..Ask::default() }).await?;
            print_components(&installer.bundle(&agents, unverified, &output).await?)
        }
        AgentsCommand::Cache { command: AgentCacheCommand::Clear } => {
            let directory = storage::cache_dir()
                .context("cannot find the cache directory: set HOME or TOMBOLO_CACHE_DIR")?;
            let bytes = Cache::new(directory).clear().context("could not clear the cache")?;
            print(&format!("removed {bytes} bytes"))
        }
    }
}

/// The data directory and the configuration file of the agents on this machine.
struct LocalInstallation {
    data_dir: Option<PathBuf>,
    config: Option<PathBuf>,
}

impl LocalInstallation {
    fn installer(&self, options: &InstallOptions) -> anyhow::Result<Installer> {
        let file = ConfigFile::read(self.config.as_deref())?;
        let data_dir = storage::data_dir(self.data_dir.as_deref())?;
        let own_program = std::env::current_exe().context("could not determine the path of this program")?;
        let catalog = Catalog::new(&own_program, file.agents)?;
        Ok(Installer::new(config(&data_dir, options, &file.install, true)?, catalog))
    }
}

async fn find(installer: &Installer, names: &[AgentName]) -> anyhow::Result<Vec<Arc<Definition>>> {
    let mut agents = Vec::new();
    for name in names {
        agents.push(installer.agent(name).await.with_context(|| {
            format!("there is no agent `{name}`: list the agents with `tombolo agents list`")
        })?);
    }
    Ok(agents)
}

async fn list(installer: &Installer) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for agent in installer.agents().await.iter() {
        let presence = installer.presence(agent).await;
        let path = presence.program.as_ref().map(|path| path.display());
        rows.push([
            agent.id.to_string(),
            agent.name.clone(),
            yes_no(path.is_some()),
            or_dash(presence.version),
            or_dash(presence.verified.map(yes_no)),
            or_dash(path),
        ]);
    }
    print(&table(["ID", "NAME", "INSTALLED", "VERSION", "VERIFIED", "PATH"], rows))
}

/// Installs agents one after another, with progress bars.
async fn install(installer: &Installer, agents: &[Arc<Definition>], ask: &Ask) -> anyhow::Result<()> {
    for agent in agents {
        let mut installation = installer.install(agent, ask).await?;
        let mut bars = progress::InstallProgressBars::default();
        while let Some(progress) = installation.next().await {
            bars.show(&progress);
        }
        bars.clear();
        for (component, error) in installation.finish().await?.failed {
            exit::say(&format!(
                "warning: {} works without {component}, which could not be installed: {error}",
                agent.id
            ));
        }
        let presence = installer.presence(agent).await;
        let Some(program) = presence.program else {
            bail!(
                "agent `{}` is not installed and Tombolo cannot install it: install it yourself and make sure it is on PATH",
                agent.id
            );
        };
        print(&format!("{} {} {}", agent.id, or_dash(presence.version), program.display()))?;
        if presence.verified == Some(false) {
            exit::say(&format!("warning: {} has files that were not verified with a checksum", agent.id));
        }
    }
    Ok(())
}

fn print_components(manifests: &[Manifest]) -> anyhow::Result<()> {
    let rows = manifests.iter().map(|manifest| {
        [manifest.component.to_string(), manifest.version.to_string(), yes_no(manifest.verified)]
    });
    print(&table(["COMPONENT", "VERSION", "VERIFIED"], rows))
}

fn print(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    Ok(writeln!(std::io::stdout(), "{text}")?)
}
