//! `tombolo device`: lend this machine to agents, on its owner's terms.

mod audit;
mod connect;
mod console;
mod control;
mod lend;
mod owned;
mod pair;
mod service;
mod telling;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Lend this machine to agents.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is lent that you do not name. A hub can take away from that, never add to it.

Examples:
  tombolo device pair https://hub.example --root main=~/code:rw --root docs=~/docs --shell
  tombolo device connect https://hub.example --root main=~/code:rw --root docs=~/docs --shell
  tombolo device connect --config device.toml
  tombolo device status
  tombolo device pause 'back in an hour'
  tombolo device stop
  tombolo device audit list")]
pub(crate) struct DeviceOptions {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Let this machine into a hub, by a short code that is confirmed there
    Pair(Box<pair::PairOptions>),
    /// Connect to a hub, and lend what you name until you stop
    Connect(Box<connect::ConnectOptions>),
    /// Say how the device that runs here is, and who uses it
    #[command(after_help = "Examples:\n  tombolo device status\n  tombolo device status --json")]
    Status(control::Which),
    /// Begin nothing new until `resume`; what runs goes on
    Pause(control::Pause),
    /// Do again what is asked
    #[command(after_help = "Examples:\n  tombolo device resume")]
    Resume(control::Which),
    /// Take back whatever you agreed to for more than once: you are asked again
    #[command(after_help = "Examples:\n  tombolo device forget")]
    Forget(control::Which),
    /// End it at once, with everything that runs
    #[command(after_help = "Examples:\n  tombolo device stop")]
    Stop(control::Which),
    /// What was asked of this device, and what came of it
    Audit(audit::Audit),
    /// Run as a service of yours, with systemd
    Service(service::Service),
}

/// Lends, or speaks to the device that does.
pub(crate) fn run(options: DeviceOptions) -> ExitCode {
    match options.command {
        Command::Pair(options) => pair::run(&options),
        Command::Connect(options) => connect::run(&options),
        Command::Status(which) => which.run(&protocol::device::Command::Status),
        Command::Pause(pause) => pause.run(),
        Command::Resume(which) => which.run(&protocol::device::Command::Resume),
        Command::Forget(which) => which.run(&protocol::device::Command::Forget),
        Command::Stop(which) => which.run(&protocol::device::Command::Stop),
        Command::Audit(audit) => audit.run(),
        Command::Service(service) => service.run(),
    }
}
