//! The options that name the parts of a device to grant, and grants as text.

use std::time::Duration;

use clap::Args;
use protocol::relay::{
    ApprovalPolicy, CapabilityGrant, Family, Grant, Root, RootId, RootMode, ShellGrant, VirtualPath,
};

use crate::{
    command_network::{self, NetworkOption},
    duration::{self, VALUE_NAME},
};

/// The parts of a device to grant; a part without an option is not granted.
#[derive(Debug, Args)]
pub(super) struct GrantArgs {
    /// Grant a directory of the device read-only (ro) or read-write (rw), shown to agents at `/workspace/ID` or at PATH;
    /// may be repeated
    #[arg(long, value_name = "ID:ro|rw[=PATH]", value_parser = parse_root)]
    root: Vec<Root>,
    /// Grant commands, with an approval rule: `allow`, `ask_once`, `ask_once_per_run` or `always_ask`
    #[arg(long, value_name = "APPROVAL", value_parser = parse_approval, num_args = 0..=1, default_missing_value = "always_ask")]
    shell: Option<ApprovalPolicy>,
    /// Let commands reach other machines through the device's proxy, which refuses the device's own addresses
    /// (proxy), or everything that the device can reach, services on its loopback addresses included (host)
    /// [default: none]
    #[arg(
        long,
        requires = "shell",
        value_name = command_network::VALUES,
        value_parser = NetworkOption::parse,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    network: Option<NetworkOption>,
    /// Let commands run outside a sandbox
    #[arg(long, requires = "shell")]
    unsandboxed: bool,
    /// Pass this environment variable of the device to commands; may be repeated
    #[arg(long, value_name = "NAME", requires = "shell")]
    env: Vec<String>,
    /// Kill a command that runs longer than this
    #[arg(long, value_name = VALUE_NAME, requires = "shell", value_parser = duration::parse_positive)]
    command_timeout: Option<Duration>,
    /// Deprecated: use --command-timeout, for example --command-timeout 90s
    #[arg(long, value_name = "SECONDS", requires = "shell", hide = true)]
    command_seconds: Option<u64>,
    /// Limit the output of a command to this many bytes
    #[arg(long, value_name = "BYTES", requires = "shell")]
    output_limit: Option<u64>,
    /// Grant the tools of the device
    #[arg(long)]
    tools: bool,
}

impl GrantArgs {
    /// The capabilities as the relay protocol expresses them.
    pub(super) fn capabilities(self) -> Vec<CapabilityGrant> {
        let grant = |capability| CapabilityGrant {
            capability,
            enabled: true,
            policy_id: None,
            roots: None,
            shell: None,
        };
        let runtime_max_ms = self.command_timeout().map(duration::milliseconds);
        let mut all = Vec::new();
        if !self.root.is_empty() {
            all.push(CapabilityGrant { roots: Some(self.root), ..grant(Family::Fileops) });
        }
        if let Some(approval_policy) = self.shell {
            let shell = ShellGrant {
                cwd: None,
                env: self.env,
                network: self.network.map(NetworkOption::network).unwrap_or_default(),
                approval_policy,
                runtime_max_ms,
                output_limit_bytes: self.output_limit,
                unsandboxed: self.unsandboxed,
            };
            all.push(CapabilityGrant { shell: Some(shell), ..grant(Family::Shell) });
        }
        if self.tools {
            all.push(grant(Family::Tools));
        }
        all
    }

    fn command_timeout(&self) -> Option<Duration> {
        self.command_seconds.map(Duration::from_secs).or(self.command_timeout)
    }
}

fn parse_root(text: &str) -> Result<Root, String> {
    let (named, path) = text.split_once('=').map_or((text, None), |(named, path)| (named, Some(path)));
    let (id, mode) = named.split_once(':').ok_or("write ID:ro or ID:rw, for example main:rw")?;
    let root_id: RootId = id.parse().map_err(|error: protocol::InvalidId| error.to_string())?;
    let mode = match mode {
        "ro" => RootMode::Ro,
        "rw" => RootMode::Rw,
        _ => return Err("the part after `:` must be ro or rw".into()),
    };
    let path = path.map_or_else(|| format!("/workspace/{root_id}"), str::to_owned);
    let virtual_path = path.parse::<VirtualPath>().map_err(|error| error.to_string())?;
    Ok(Root { root_id, label: None, virtual_path, mode })
}

pub(super) fn parse_approval(text: &str) -> Result<ApprovalPolicy, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "use allow, ask_once, ask_once_per_run, always_ask or block".into())
}

/// The capabilities of a grant on one line.
pub(super) fn summary(grant: &Grant) -> String {
    let capabilities = grant.capabilities.iter().filter(|granted| granted.enabled).map(|granted| {
        let roots = granted.roots.iter().flatten().map(root_summary);
        let details: Vec<String> = match &granted.shell {
            Some(shell) => vec![wire_name(&shell.approval_policy)],
            None => roots.collect(),
        };
        let name = granted.capability.as_str();
        if details.is_empty() { name.to_owned() } else { format!("{name}({})", details.join(" ")) }
    });
    capabilities.collect::<Vec<_>>().join(" ")
}

/// A root as `--root` spells it.
pub(super) fn root_summary(root: &Root) -> String {
    format!("{}:{}", root.root_id, if root.mode == RootMode::Rw { "rw" } else { "ro" })
}

/// The spelling of an enum value on the wire.
pub(super) fn wire_name(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_value(value).ok();
    json.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
