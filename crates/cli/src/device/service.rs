//! `tombolo device service`: install the device as a systemd user service.

mod unit;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use device::DeviceConfig;

use self::unit::unit_text;
use crate::{environment::variable, exit, output::CommandOutput, storage};

/// The name of the systemd unit.
const UNIT: &str = "tombolo-device.service";

/// Install the device as a systemd user service
#[derive(Debug, Args)]
#[command(after_help = "\
Pair the device first, so that its token is in its own files and not in the unit. A service has no
terminal, so requests that need an approval are rejected.

Examples:
  tombolo device service install --config ~/.config/tombolo/device.toml
  tombolo device service print --config device.toml
  tombolo device service uninstall
  journalctl --user -u tombolo-device")]
pub(super) struct ServiceOptions {
    #[command(subcommand)]
    command: ServiceCommand,
}

#[derive(Debug, Subcommand)]
enum ServiceCommand {
    /// Write the unit, start it, and enable it at login
    #[command(after_help = "Examples:\n  tombolo device service install --config device.toml")]
    Install {
        #[command(flatten)]
        arguments: ServiceArguments,
        /// Write the unit without starting it
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
        arguments: ServiceArguments,
    },
}

/// The arguments with which the service runs `tombolo device connect`.
#[derive(Debug, Args)]
struct ServiceArguments {
    /// Configuration file of the device
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Directory for the device's own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
}

impl ServiceOptions {
    pub(super) fn run(self) -> ExitCode {
        exit::code(self.execute().map(|()| ExitCode::SUCCESS))
    }

    fn execute(self) -> anyhow::Result<()> {
        let output = CommandOutput { json: false };
        match self.command {
            ServiceCommand::Print { arguments } => {
                // Writing fails only if the reader has closed the pipe, which is not an error.
                let _ = output.bytes(arguments.unit()?.as_bytes());
            }
            ServiceCommand::Install { arguments, no_start } => {
                let (text, path) = (arguments.unit()?, unit_path()?);
                let directory = path.parent().unwrap_or(Path::new("/"));
                let written = fs::create_dir_all(directory).and_then(|()| fs::write(&path, text));
                written.with_context(|| format!("could not write `{}`", path.display()))?;
                output.print_note(&format!("wrote {}", path.display()));
                if !no_start {
                    systemctl(&["daemon-reload"])?;
                    systemctl(&["enable", "--now", UNIT])?;
                    output.print_note("started; see `tombolo device status`");
                }
            }
            ServiceCommand::Uninstall => {
                let path = unit_path()?;
                if !path.exists() {
                    bail!("the service is not installed: `{}` does not exist", path.display());
                }
                // Remove the unit even if stopping fails: it may have been written with --no-start, without systemd.
                let stopped = systemctl(&["disable", "--now", UNIT]);
                fs::remove_file(&path).with_context(|| format!("could not remove `{}`", path.display()))?;
                output.print_note(&format!("removed {}", path.display()));
                match stopped {
                    Ok(()) => systemctl(&["daemon-reload"])?,
                    Err(error) => output.print_note(&format!("the service may still be running: {error:#}")),
                }
            }
        }
        Ok(())
    }
}

impl ServiceArguments {
    /// The text of the unit. Checks the configuration first, so that a service that cannot start is not installed.
    fn unit(&self) -> anyhow::Result<String> {
        DeviceConfig::read(&self.config, storage::home().as_deref())?;
        let program = std::env::current_exe().context("could not find this program")?;
        let config = absolute(&self.config)?;
        let mut command = vec![program, "device".into(), "connect".into(), "--config".into(), config];
        if let Some(directory) = &self.data_dir {
            command.extend(["--data-dir".into(), absolute(directory)?]);
        }
        unit_text(&command)
    }
}

/// The path of the installed unit, if there is one.
pub(super) fn installed_unit() -> Option<PathBuf> {
    unit_path().ok().filter(|path| path.exists())
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("`{}` is not a valid path", path.display()))
}

/// Where systemd looks for the unit of this user.
fn unit_path() -> anyhow::Result<PathBuf> {
    let xdg_config = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = xdg_config.or_else(|| Some(storage::home()?.join(".config")));
    Ok(config.context("neither HOME nor XDG_CONFIG_HOME is set")?.join("systemd/user").join(UNIT))
}

fn systemctl(arguments: &[&str]) -> anyhow::Result<()> {
    let command = format!("systemctl --user {}", arguments.join(" "));
    let output = Command::new("systemctl").arg("--user").args(arguments).output();
    let output = output.with_context(|| format!("could not run `{command}`"))?;
    if !output.status.success() {
        bail!("`{command}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
