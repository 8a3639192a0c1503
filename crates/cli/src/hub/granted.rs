//! What is granted of a device, as it is typed.

use clap::Args;
use protocol::relay::{
    Approval, CapabilityGrant, Family, Grant, Mode, Network, Root, RootId, ShellGrant, VirtualPath,
};

/// What is granted of a device. Nothing is that is not named.
#[derive(Debug, Args)]
pub(super) struct Granted {
    /// A directory of the device and what may be done in it, seen at `/workspace/ID` or where it is said; may be repeated
    #[arg(long, value_name = "ID:ro|rw[=PATH]", value_parser = root)]
    root: Vec<Root>,
    /// Commands, and who is asked before: `allow`, `ask_once`, `ask_once_per_run` or `always_ask`
    #[arg(long, value_name = "APPROVAL", value_parser = approval, num_args = 0..=1, default_missing_value = "always_ask")]
    shell: Option<Approval>,
    /// Commands may reach the network
    #[arg(long, requires = "shell")]
    network: bool,
    /// Commands may run without a sandbox
    #[arg(long, requires = "shell")]
    unsandboxed: bool,
    /// A variable of the environment that commands may have; may be repeated
    #[arg(long, value_name = "NAME", requires = "shell")]
    env: Vec<String>,
    /// How long a command may take, in seconds
    #[arg(long, value_name = "SECONDS", requires = "shell")]
    command_seconds: Option<u64>,
    /// How much a command may write, in bytes
    #[arg(long, value_name = "BYTES", requires = "shell")]
    output_limit: Option<u64>,
    /// The tools of the device
    #[arg(long)]
    tools: bool,
}

impl Granted {
    /// The same, as the relay says it.
    pub(super) fn capabilities(self) -> Vec<CapabilityGrant> {
        let granted = |capability| CapabilityGrant {
            capability,
            enabled: true,
            policy_id: None,
            roots: None,
            shell: None,
        };
        let mut all = Vec::new();
        if !self.root.is_empty() {
            all.push(CapabilityGrant { roots: Some(self.root), ..granted(Family::Fileops) });
        }
        if let Some(approval_policy) = self.shell {
            let shell = ShellGrant {
                cwd: None,
                env: self.env,
                network: if self.network { Network::Full } else { Network::None },
                approval_policy,
                runtime_max_ms: self.command_seconds.map(|seconds| seconds.saturating_mul(1000)),
                output_limit_bytes: self.output_limit,
                unsandboxed: self.unsandboxed,
            };
            all.push(CapabilityGrant { shell: Some(shell), ..granted(Family::Shell) });
        }
        if self.tools {
            all.push(granted(Family::Tools));
        }
        all
    }
}

fn root(text: &str) -> Result<Root, String> {
    let (named, path) = text.split_once('=').map_or((text, None), |(named, path)| (named, Some(path)));
    let (id, mode) = named.split_once(':').ok_or("a name, `:` and `ro` or `rw`")?;
    let root_id: RootId = id.parse().map_err(|error: protocol::InvalidId| error.to_string())?;
    let mode = match mode {
        "ro" => Mode::Ro,
        "rw" => Mode::Rw,
        _ => return Err("what may be done is `ro` or `rw`".into()),
    };
    let path = path.map_or_else(|| format!("/workspace/{root_id}"), str::to_owned);
    let virtual_path = path.parse::<VirtualPath>().map_err(|error| error.to_string())?;
    Ok(Root { root_id, label: None, virtual_path, mode })
}

pub(super) fn approval(text: &str) -> Result<Approval, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "one of `allow`, `ask_once`, `ask_once_per_run`, `always_ask` and `block`".into())
}

/// What a grant allows, in a line.
pub(super) fn summary(grant: &Grant) -> String {
    let capabilities = grant.capabilities.iter().filter(|granted| granted.enabled).map(|granted| {
        let roots = granted.roots.iter().flatten().map(root_summary);
        let more: Vec<String> = match &granted.shell {
            Some(shell) => vec![word(&shell.approval_policy)],
            None => roots.collect(),
        };
        match more.is_empty() {
            true => granted.capability.as_str().to_owned(),
            false => format!("{}({})", granted.capability.as_str(), more.join(" ")),
        }
    });
    capabilities.collect::<Vec<_>>().join(" ")
}

/// A root as it is typed.
pub(super) fn root_summary(root: &Root) -> String {
    format!("{}:{}", root.root_id, if root.mode == Mode::Rw { "rw" } else { "ro" })
}

/// A value as the wire says it.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    word.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
