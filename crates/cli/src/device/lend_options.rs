//! Command line options for what a device lends, merged with `device.toml`.

use std::path::PathBuf;

use clap::Args;
use device::{DeviceConfig, LentRoot, Places, Rules, WhenLost};
use protocol::relay::{ApprovalPolicy, ClientId};

use crate::{
    command_network::{self, NetworkOption},
    exit::CommandError,
    storage,
};

/// Command line options for what a device lends.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What to lend")]
pub(super) struct LendOptions {
    /// Configuration file. Command-line options are added to it and take precedence
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Lend a directory, read-only (ro, the default) or writable (rw); may be repeated
    #[arg(long = "root", value_name = "NAME=DIRECTORY[:ro|:rw]")]
    roots: Vec<String>,
    /// Lend a shell: run commands in a sandbox that sees little more than the lent directories
    #[arg(long)]
    shell: bool,
    /// Run commands without a sandbox if none is available; they can then do whatever you can
    #[arg(long, requires = "shell")]
    unsandboxed: bool,
    /// Pass this environment variable on to commands; may be repeated
    #[arg(long, requires = "shell", value_name = "NAME")]
    shell_env: Vec<String>,
    /// Let commands reach other machines through a proxy that refuses this machine's own addresses (proxy), or
    /// everything that this machine can reach, services on its loopback addresses included (host) [default: none]
    #[arg(
        long,
        requires = "shell",
        value_name = command_network::VALUES,
        value_parser = NetworkOption::parse,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    shell_network: Option<NetworkOption>,
    /// Kill or keep running commands when the connection to the hub is lost
    #[arg(long, requires = "shell", value_name = "kill|keep", value_parser = parse_when_lost)]
    on_disconnect: Option<WhenLost>,
    /// Lend the tools that this file defines
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Open a socket through which your own programs can offer tools
    #[arg(long)]
    tool_socket: bool,
    /// Set when to ask you about writes, commands or tools: allow, ask_once, ask_once_per_run, always_ask
    /// or block; may be repeated
    #[arg(long = "ask", value_name = "WHAT=WHEN", value_parser = parse_rule)]
    rules: Vec<ApprovalRule>,
    /// Name of this device at the hub [default: the host name]
    #[arg(long, value_name = "NAME")]
    client_id: Option<ClientId>,
    /// Label to show for this device
    #[arg(long)]
    label: Option<String>,
}

/// One `--ask` option: when the owner is asked about one kind of request.
#[derive(Debug, Clone)]
struct ApprovalRule {
    set: fn(&mut Rules, ApprovalPolicy),
    approval: ApprovalPolicy,
}

impl LendOptions {
    /// The configuration file, if one is named, with the command line options applied to it.
    pub(super) fn config(&self, hub: Option<&str>) -> Result<DeviceConfig, CommandError> {
        let usage = |message: String| CommandError::Usage(message);
        let home = storage::home();
        let mut config = match &self.config {
            Some(path) => DeviceConfig::read(path, home.as_deref())
                .map_err(|error| usage(protocol::ErrorChain(&error).to_string()))?,
            None => DeviceConfig::default(),
        };
        let base = std::env::current_dir()
            .map_err(|error| crate::exit::local("find the current directory", error))?;
        let places = Places { base: &base, home: home.as_deref() };
        for root in &self.roots {
            let lent_root =
                LentRoot::parse(root, places).map_err(|error| usage(format!("--root `{root}`: {error}")))?;
            config.roots.retain(|other| other.root.root_id != lent_root.root.root_id);
            config.roots.push(lent_root);
        }
        if self.shell {
            let shell = config.shell.get_or_insert_default();
            shell.unsandboxed |= self.unsandboxed;
            shell.env.extend(self.shell_env.iter().cloned());
            if let Some(option) = self.shell_network {
                shell.network = option.network();
                shell.network_was_full = false;
            }
            shell.on_disconnect = self.on_disconnect.unwrap_or(shell.on_disconnect);
        }
        if config.shell.as_ref().is_some_and(|shell| shell.network_was_full) {
            command_network::explain_full();
        }
        for ApprovalRule { set, approval } in &self.rules {
            set(&mut config.rules, *approval);
        }
        config.tool_socket |= self.tool_socket;
        config.hub = hub.map(str::to_owned).or(config.hub);
        config.label = self.label.clone().or(config.label);
        config.tools = self.tools.as_ref().map(|file| base.join(file)).or(config.tools);
        config.client_id = self.client_id.clone().or(config.client_id);
        Ok(config)
    }
}

fn parse_rule(text: &str) -> Result<ApprovalRule, String> {
    let (what, when) = text.split_once('=').ok_or("expected WHAT=WHEN, such as `commands=always_ask`")?;
    let set: fn(&mut Rules, ApprovalPolicy) = match what {
        "writes" => |rules, approval| rules.writes = approval,
        "commands" => |rules, approval| rules.commands = approval,
        "tools" => |rules, approval| rules.tools = approval,
        _ => return Err("WHAT must be writes, commands or tools".into()),
    };
    let approval = serde_json::from_value(when.into())
        .map_err(|_| "WHEN must be allow, ask_once, ask_once_per_run, always_ask or block")?;
    Ok(ApprovalRule { set, approval })
}

fn parse_when_lost(text: &str) -> Result<WhenLost, &'static str> {
    match text {
        "kill" => Ok(WhenLost::Kill),
        "keep" => Ok(WhenLost::Keep),
        _ => Err("expected kill or keep"),
    }
}
