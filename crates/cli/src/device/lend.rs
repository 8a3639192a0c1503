//! What is lent, as it is said on the command line and in `device.toml`.

use std::path::PathBuf;

use clap::Args;
use device::{DeviceConfig, LentRoot, Places, Rules, WhenLost};
use protocol::relay::{Approval, ClientId, Network};

use crate::{exit::Failure, storage};

/// What is lent.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What is lent")]
pub(super) struct LendOptions {
    /// A file that says all of this; what is said here is added, and is stronger
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// A directory, to read (ro) or also to write (rw); may be repeated
    #[arg(long = "root", value_name = "NAME=DIRECTORY[:ro|:rw]")]
    roots: Vec<String>,
    /// Commands, in a sandbox that sees the directories and little else
    #[arg(long)]
    shell: bool,
    /// Commands without a sandbox if there is none: they can then do whatever you can
    #[arg(long, requires = "shell")]
    unsandboxed: bool,
    /// A variable of the environment that commands may have; may be repeated
    #[arg(long, requires = "shell", value_name = "NAME")]
    shell_env: Vec<String>,
    /// Let commands reach the network
    #[arg(long, requires = "shell")]
    shell_network: bool,
    /// What becomes of commands when the connection is lost: kill or keep
    #[arg(long, requires = "shell", value_name = "WHAT", value_parser = when_lost)]
    on_disconnect: Option<WhenLost>,
    /// A file that says which tools there are
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Let programs of yours on this machine offer tools while it is lent
    #[arg(long)]
    tool_socket: bool,
    /// When you are asked: writes, commands or tools, and allow, ask_once, ask_once_per_run, always_ask
    /// or block; may be repeated
    #[arg(long = "ask", value_name = "WHAT=WHEN", value_parser = rule)]
    rules: Vec<Rule>,
    /// The name that the hub knows this device by [default: that of the machine]
    #[arg(long, value_name = "NAME")]
    client_id: Option<ClientId>,
    /// What you call it
    #[arg(long)]
    label: Option<String>,
}

/// What somebody wants to be asked about, and when.
#[derive(Debug, Clone)]
struct Rule {
    set: fn(&mut Rules, Approval),
    approval: Approval,
}

impl LendOptions {
    /// What is lent, all in all.
    pub(super) fn config(&self, hub: Option<&str>) -> Result<DeviceConfig, Failure> {
        let usage = |message: String| Failure::Usage(message);
        let home = storage::home();
        let mut config = match &self.config {
            Some(path) => DeviceConfig::read(path, home.as_deref())
                .map_err(|error| usage(protocol::Chain(&error).to_string()))?,
            None => DeviceConfig::default(),
        };
        let base = std::env::current_dir()
            .map_err(|error| crate::exit::local("find the current directory", error))?;
        let places = Places { base: &base, home: home.as_deref() };
        for said in &self.roots {
            let lent =
                LentRoot::parse(said, places).map_err(|error| usage(format!("--root `{said}`: {error}")))?;
            config.roots.retain(|other| other.root.root_id != lent.root.root_id);
            config.roots.push(lent);
        }
        if self.shell {
            let shell = config.shell.get_or_insert_default();
            shell.unsandboxed |= self.unsandboxed;
            shell.env.extend(self.shell_env.iter().cloned());
            shell.network = if self.shell_network { Network::Full } else { shell.network };
            shell.on_disconnect = self.on_disconnect.unwrap_or(shell.on_disconnect);
        }
        for Rule { set, approval } in &self.rules {
            set(&mut config.rules, *approval);
        }
        let said = |one: Option<&str>, other: Option<String>| one.map(str::to_owned).or(other);
        config.tool_socket |= self.tool_socket;
        config.hub = said(hub, config.hub);
        config.label = said(self.label.as_deref(), config.label);
        config.tools = self.tools.as_ref().map(|file| base.join(file)).or(config.tools);
        config.client_id = self.client_id.clone().or(config.client_id);
        Ok(config)
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    let (what, when) = text.split_once('=').ok_or("it must be such as `commands=always_ask`")?;
    let set: fn(&mut Rules, Approval) = match what {
        "writes" => |rules, approval| rules.writes = approval,
        "commands" => |rules, approval| rules.commands = approval,
        "tools" => |rules, approval| rules.tools = approval,
        _ => return Err("it can be writes, commands or tools".into()),
    };
    let approval = serde_json::from_value(when.into())
        .map_err(|_| "it can be allow, ask_once, ask_once_per_run, always_ask or block")?;
    Ok(Rule { set, approval })
}

fn when_lost(text: &str) -> Result<WhenLost, &'static str> {
    match text {
        "kill" => Ok(WhenLost::Kill),
        "keep" => Ok(WhenLost::Keep),
        _ => Err("it can be kill or keep"),
    }
}
