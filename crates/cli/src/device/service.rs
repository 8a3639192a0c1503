//! `tombolo device service`: a unit of systemd, for one user.

mod unit;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use device::DeviceConfig;

use self::unit::unit;
use crate::{environment::variable, exit, output::Output, storage};

/// What the unit is called.
const UNIT: &str = "tombolo-device.service";

/// Run as a service.
#[derive(Debug, Args)]
#[command(after_help = "\
The device must be paired first, so that its token is in its own files and not in the unit. A
service has no terminal: what would be asked there is refused.

Examples:
  tombolo device service install --config ~/.config/tombolo/device.toml
  tombolo device service print --config device.toml
  tombolo device service uninstall
  journalctl --user -u tombolo-device")]
pub(super) struct Service {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write the unit, and start it now and whenever you log in
    #[command(after_help = "Examples:\n  tombolo device service install --config device.toml")]
    Install {
        #[command(flatten)]
        what: What,
        /// Only write the unit
        #[arg(long)]
        no_start: bool,
    },
    /// Stop the service and remove its unit
    #[command(after_help = "Examples:\n  tombolo device service uninstall")]
    Uninstall,
    /// Print the unit
    #[command(after_help = "Examples:\n  tombolo device service print --config device.toml")]
    Print {
        #[command(flatten)]
        what: What,
    },
}

/// What the service runs.
#[derive(Debug, Args)]
struct What {
    /// The file that says what is lent
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Where the device keeps its own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
}

impl Service {
    pub(super) fn run(self) -> ExitCode {
        exit::code(self.serve().map(|()| ExitCode::SUCCESS))
    }

    fn serve(self) -> anyhow::Result<()> {
        let output = Output { json: false };
        match self.verb {
            Verb::Print { what } => {
                // The only failure is that nobody reads it.
                let _ = output.bytes(what.unit()?.as_bytes());
            }
            Verb::Install { what, no_start } => {
                let (text, path) = (what.unit()?, place()?);
                let directory = path.parent().unwrap_or(Path::new("/"));
                let written = fs::create_dir_all(directory).and_then(|()| fs::write(&path, text));
                written.with_context(|| format!("could not write `{}`", path.display()))?;
                output.talk(&format!("wrote {}", path.display()));
                if !no_start {
                    systemctl(&["daemon-reload"])?;
                    systemctl(&["enable", "--now", UNIT])?;
                    output.talk("started; see `tombolo device status`");
                }
            }
            Verb::Uninstall => {
                let path = place()?;
                if !path.exists() {
                    bail!("there is no `{}`", path.display());
                }
                // It may have been written only, where there is no systemd to stop it.
                let stopped = systemctl(&["disable", "--now", UNIT]);
                fs::remove_file(&path).with_context(|| format!("could not remove `{}`", path.display()))?;
                output.talk(&format!("removed {}", path.display()));
                match stopped {
                    Ok(()) => systemctl(&["daemon-reload"])?,
                    Err(error) => output.talk(&format!("it may still run: {error:#}")),
                }
            }
        }
        Ok(())
    }
}

impl What {
    /// The unit, once it is clear that what it runs makes sense.
    fn unit(&self) -> anyhow::Result<String> {
        DeviceConfig::read(&self.config, storage::home().as_deref())?;
        let program = std::env::current_exe().context("could not find this program")?;
        let mut words =
            vec![program, "device".into(), "connect".into(), "--config".into(), whole(&self.config)?];
        if let Some(directory) = &self.data_dir {
            words.extend(["--data-dir".into(), whole(directory)?]);
        }
        unit(&words)
    }
}

/// Where the unit is that starts a device; none if there is none.
pub(super) fn installed() -> Option<PathBuf> {
    place().ok().filter(|path| path.exists())
}

fn whole(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("`{}` is no path", path.display()))
}

/// Where units of a user are.
fn place() -> anyhow::Result<PathBuf> {
    let said = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = said.or_else(|| Some(storage::home()?.join(".config")));
    Ok(config.context("neither HOME nor XDG_CONFIG_HOME is set")?.join("systemd/user").join(UNIT))
}

fn systemctl(words: &[&str]) -> anyhow::Result<()> {
    let doing = format!("systemctl --user {}", words.join(" "));
    let ran = Command::new("systemctl").arg("--user").args(words).output();
    let ran = ran.with_context(|| format!("could not run `{doing}`"))?;
    if !ran.status.success() {
        bail!("`{doing}` failed: {}", String::from_utf8_lossy(&ran.stderr).trim());
    }
    Ok(())
}
