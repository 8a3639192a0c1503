//! What `tombolo agents` does.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use ::agents::{
    Catalog, Definition, Installer, Want,
    install::{Ask, Cache, Manifest},
};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use daemon::ConfigFile;
use protocol::AgentName;

use super::{InstallOptions, config};
use crate::{
    output::{or_dash, table, yes_no},
    progress, storage,
};

/// The agents of this machine, without a daemon.
#[derive(Debug, Args)]
#[command(after_help = "\
A daemon with the same data directory finds what is installed here, and the other way round.

Examples:
  tombolo agents list
  tombolo agents install claude codex
  tombolo agents bundle claude codex -o agents.tar.zst     on a machine with a network
  tombolo agents install --from agents.tar.zst             on one without")]
pub(crate) struct AgentsOptions {
    #[command(subcommand)]
    verb: Verb,
    /// Where agents are kept, as for the daemon
    #[arg(long, global = true, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// A configuration file, as for the daemon
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the agents that there are
    List {
        #[command(flatten)]
        options: InstallOptions,
    },
    /// Install agents, unless they are there already
    Install {
        /// The agents; with --from, all that the bundle has if left out
        #[arg(required_unless_present = "from")]
        agents: Vec<AgentName>,
        /// The version: `latest` for the newest, the one that was tested if left out
        #[arg(long, value_name = "VERSION", conflicts_with = "from")]
        version: Option<String>,
        /// Install again what is installed already
        #[arg(long)]
        reinstall: bool,
        /// A bundle to install them from, without a network
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        #[command(flatten)]
        options: InstallOptions,
    },
    /// Write agents with all that they need into one file
    Bundle {
        /// The agents
        #[arg(required = true)]
        agents: Vec<AgentName>,
        /// The file to write
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
        #[command(flatten)]
        options: InstallOptions,
    },
    /// What was downloaded and is kept for the next time
    Cache {
        #[command(subcommand)]
        verb: CacheVerb,
    },
}

#[derive(Debug, Subcommand)]
enum CacheVerb {
    /// Forget everything that was downloaded; what is installed stays
    Clear,
}

/// Does what was asked for.
pub(crate) fn run(asked: AgentsOptions) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(go(asked))?;
    Ok(ExitCode::SUCCESS)
}

async fn go(asked: AgentsOptions) -> anyhow::Result<()> {
    let AgentsOptions { verb, data_dir, config } = asked;
    let place = Place { data_dir, config };
    match verb {
        Verb::List { options } => list(&place.installer(&options)?).await,
        Verb::Install { agents, version, reinstall, from, options } => {
            let installer = place.installer(&options)?;
            let agents = find(&installer, &agents).await?;
            match from {
                Some(bundle) => say(&installer.unbundle(&bundle, &agents).await?),
                None => {
                    let want = Want::parse(version.as_deref())?;
                    install(&installer, &agents, &Ask { want, again: reinstall, apart: false }).await
                }
            }
        }
        Verb::Bundle { agents, output, options } => {
            let installer = place.installer(&options)?;
            let agents = find(&installer, &agents).await?;
            install(&installer, &agents, &Ask { apart: true, ..Ask::default() }).await?;
            say(&installer.bundle(&agents, &output).await?)
        }
        Verb::Cache { verb: CacheVerb::Clear } => {
            let directory = storage::cache_dir().context("there is no place for a cache: HOME is not set")?;
            let bytes = Cache::new(directory).clear().context("could not clear the cache")?;
            print(&format!("{bytes} bytes removed"))
        }
    }
}

/// Where agents are kept, and which there are.
struct Place {
    data_dir: Option<PathBuf>,
    config: Option<PathBuf>,
}

impl Place {
    fn installer(&self, options: &InstallOptions) -> anyhow::Result<Installer> {
        let file = match &self.config {
            Some(path) => ConfigFile::read(path)?,
            None => ConfigFile::default(),
        };
        let data_dir = storage::data_dir(self.data_dir.as_deref())?;
        let own_program = std::env::current_exe().context("could not find this program")?;
        let catalog = Catalog::new(&own_program, file.agents)?;
        Ok(Installer::new(config(&data_dir, options, &file.install, true)?, catalog))
    }
}

async fn find(installer: &Installer, names: &[AgentName]) -> anyhow::Result<Vec<Arc<Definition>>> {
    let mut agents = Vec::new();
    for name in names {
        agents.push(installer.agent(name).await.with_context(|| format!("there is no agent `{name}`"))?);
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
            or_dash(path),
        ]);
    }
    print(&table(["ID", "NAME", "INSTALLED", "VERSION", "PATH"], rows))
}

/// Installs agents one after another, showing how far each is.
async fn install(installer: &Installer, agents: &[Arc<Definition>], ask: &Ask) -> anyhow::Result<()> {
    for agent in agents {
        let mut installation = installer.install(agent, ask).await?;
        let mut shown = progress::Installation::default();
        while let Some(progress) = installation.next().await {
            shown.show(&progress);
        }
        shown.clear();
        installation.finish().await?;
        let presence = installer.presence(agent).await;
        let Some(program) = presence.program else {
            bail!("agent `{}` is not there, and its owner installs it", agent.id);
        };
        print(&format!("{} {} {}", agent.id, or_dash(presence.version), program.display()))?;
    }
    Ok(())
}

fn say(manifests: &[Manifest]) -> anyhow::Result<()> {
    let rows = manifests.iter().map(|one| [one.component.to_string(), one.version.to_string()]);
    print(&table(["COMPONENT", "VERSION"], rows))
}

fn print(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    Ok(writeln!(std::io::stdout(), "{text}")?)
}
