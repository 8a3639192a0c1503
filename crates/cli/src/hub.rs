//! `tombolo hub`: runs a hub, or calls its HTTP API.

mod audit;
mod devices;
mod environments;
mod grant_args;
mod grants;
mod info;
mod relay;
mod runtimes;
mod serve;
mod tokens;
mod users;
mod whoami;
mod workers;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::{
    exit,
    server_args::{HubUrl, ResourceArgs, SingleCommandArgs},
};
use serve::HubServeOptions;

pub(crate) use serve::{DEFAULT_PORT, local_config};

/// The commands of one resource of a hub.
type HubResource<C> = ResourceArgs<HubUrl, C>;

/// Run a hub, or manage a running one.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Without a subcommand this runs a hub. Its first start prints the token of an administrator: keep it,
it is not shown again. `tombolo hub tokens recover` makes another one if it is lost. The other
subcommands manage a running hub and need a token.

Examples:
  tombolo hub --host 127.0.0.1 --port 2470
  export TOMBOLO_HUB_TOKEN=tombolo_…
  tombolo hub runtimes add box --at http://127.0.0.1:2468
  tombolo hub workers list box
  tombolo hub workers watch box demo
  tombolo hub users add ana --role default=controller
  tombolo hub tokens add laptop --user ana
  tombolo hub devices confirm KXQM-3F7P --runtime box --root main:rw
  tombolo hub relay status"
)]
pub(crate) struct HubArgs {
    #[command(flatten)]
    serve: HubServeOptions,
    #[command(subcommand)]
    command: Option<HubCommand>,
}

#[derive(Debug, Subcommand)]
enum HubCommand {
    /// Add, list and remove runtimes (the daemons of the hub)
    Runtimes(HubResource<runtimes::HubRuntimesCommand>),
    /// List and watch the sessions of a runtime
    Workers(HubResource<workers::HubWorkersCommand>),
    /// Show the metrics of the hub
    Info(HubResource<info::HubInfoCommand>),
    /// Manage the users of the hub and their roles
    Users(HubResource<users::HubUsersCommand>),
    /// Create, list and revoke tokens
    Tokens(HubResource<tokens::HubTokensCommand>),
    /// Manage the devices that agents may use
    Devices(HubResource<devices::HubDevicesCommand>),
    /// Manage which parts of a device a runtime may use
    Grants(HubResource<grants::HubGrantsCommand>),
    /// Manage the access of sessions to devices
    Environments(HubResource<environments::HubEnvironmentsCommand>),
    /// Show and control the relay between runtimes and devices
    Relay(HubResource<relay::HubRelayCommand>),
    /// Show your user, your roles and your token
    #[command(after_help = "Example:\n  tombolo hub whoami")]
    Whoami(SingleCommandArgs<HubUrl, whoami::HubWhoamiArgs>),
    /// List the requests that changed something or were refused, with their users
    Audit(SingleCommandArgs<HubUrl, audit::HubAuditArgs>),
}

/// Runs `tombolo hub`.
pub(crate) fn run(options: HubArgs) -> ExitCode {
    match options.command {
        None => exit::code(serve::run(&options.serve)),
        Some(HubCommand::Runtimes(resource)) => resource.run(),
        Some(HubCommand::Workers(resource)) => resource.run(),
        Some(HubCommand::Info(resource)) => resource.run(),
        Some(HubCommand::Users(resource)) => resource.run(),
        Some(HubCommand::Tokens(resource)) => resource.run(),
        Some(HubCommand::Devices(resource)) => resource.run(),
        Some(HubCommand::Grants(resource)) => resource.run(),
        Some(HubCommand::Environments(resource)) => resource.run(),
        Some(HubCommand::Relay(resource)) => resource.run(),
        Some(HubCommand::Whoami(command)) => command.run(),
        Some(HubCommand::Audit(command)) => command.run(),
    }
}
