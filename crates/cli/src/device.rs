//! `tombolo device`: lend this machine to agents, on its owner's terms.

mod audit;
mod connect;
mod console;
mod control;
mod lend_options;
mod local_device;
mod pair;
mod service;
mod status_reporter;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Lend this machine to agents
#[derive(Debug, Args)]
#[command(after_help = "\
Only what you name is lent. A hub can restrict that further, but never extend it.

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
    command: DeviceCommand,
}

#[derive(Debug, Subcommand)]
enum DeviceCommand {
    /// Pair this machine with a hub, by a short code that is confirmed there
    Pair(Box<pair::PairOptions>),
    /// Connect to a hub and lend what you name until you stop it
    Connect(Box<connect::ConnectOptions>),
    /// Show the state of the running device and who uses it
    #[command(after_help = "Examples:\n  tombolo device status\n  tombolo device status --json")]
    Status(control::DeviceSelector),
    /// Reject new requests until `resume`; running ones continue
    Pause(control::PauseOptions),
    /// Resume serving requests
    #[command(after_help = "Examples:\n  tombolo device resume")]
    Resume(control::DeviceSelector),
    /// Forget all remembered approvals, so that you are asked again
    #[command(after_help = "Examples:\n  tombolo device forget")]
    Forget(control::DeviceSelector),
    /// Stop the device at once, with everything that runs on it
    #[command(after_help = "Examples:\n  tombolo device stop")]
    Stop(control::DeviceSelector),
    /// List and verify the requests that this device received
    Audit(audit::DeviceAuditOptions),
    /// Install the device as a systemd user service
    Service(service::ServiceOptions),
}

/// Runs a subcommand: most of them talk to a device that is already running on this machine.
pub(crate) fn run(options: DeviceOptions) -> ExitCode {
    match options.command {
        DeviceCommand::Pair(options) => pair::run(&options),
        DeviceCommand::Connect(options) => connect::run(&options),
        DeviceCommand::Status(selector) => selector.run(&protocol::device::DeviceControlCommand::Status),
        DeviceCommand::Pause(options) => options.run(),
        DeviceCommand::Resume(selector) => selector.run(&protocol::device::DeviceControlCommand::Resume),
        DeviceCommand::Forget(selector) => selector.run(&protocol::device::DeviceControlCommand::Forget),
        DeviceCommand::Stop(selector) => selector.run(&protocol::device::DeviceControlCommand::Stop),
        DeviceCommand::Audit(options) => options.run(),
        DeviceCommand::Service(options) => options.run(),
    }
}
