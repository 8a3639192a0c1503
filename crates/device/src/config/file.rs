//! `device.toml`.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use protocol::relay::{ApprovalPolicy, ClientId, RootMode, VirtualPath};
use serde::Deserialize;
use toml::Spanned;

use super::{
    DeviceConfig, LentRoot, ShellConfig,
    lend::{InvalidRoot, Places},
};
use crate::Rules;

/// The largest file that is read; a person has written it.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidConfig {
    /// The file cannot be read.
    #[error("could not read the configuration file `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not what it should be.
    #[error("the configuration file `{}` is not valid: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hub: Option<String>,
    client_id: Option<ClientId>,
    label: Option<String>,
    tools: Option<Spanned<String>>,
    #[serde(default)]
    tool_socket: bool,
    #[serde(default)]
    roots: BTreeMap<String, Spanned<RootEntry>>,
    shell: Option<ShellConfig>,
    #[serde(default)]
    rules: RulesSection,
}

/// `main = "~/code:rw"`, or a table.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a path such as `~/code:rw`, or a table with `path`, `mode`, `virtual_path` and `label`"
)]
enum RootEntry {
    Short(String),
    Long(LongRoot),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongRoot {
    path: String,
    #[serde(default = "only_reading")]
    mode: RootMode,
    virtual_path: Option<VirtualPath>,
    label: Option<String>,
}

fn only_reading() -> RootMode {
    RootMode::Ro
}

/// What the owner wants to be asked about; nothing if left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesSection {
    writes: Option<ApprovalPolicy>,
    commands: Option<ApprovalPolicy>,
    tools: Option<ApprovalPolicy>,
}

impl DeviceConfig {
    /// Reads the file at `path`. Relative paths in it start from its directory.
    ///
    /// # Errors
    /// If it cannot be read or makes no sense; the line is named.
    pub fn read(path: &Path, home: Option<&Path>) -> Result<Self, InvalidConfig> {
        let unreadable = |source| InvalidConfig::Unreadable { path: path.to_owned(), source };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > FILE_BYTES_MAX {
            let message = format!("it is larger than {FILE_BYTES_MAX} bytes");
            return Err(InvalidConfig::Invalid { path: path.to_owned(), message });
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let path_of = std::path::absolute(path).map_err(unreadable)?;
        let base = path_of.parent().unwrap_or(Path::new("/"));
        Self::parse(&text, Places { base, home })
            .map_err(|message| InvalidConfig::Invalid { path: path.to_owned(), message })
    }

    /// Reads what a file says; otherwise where it makes no sense, and why.
    pub(super) fn parse(text: &str, places: Places<'_>) -> Result<Self, String> {
        let mut file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        if let Some(shell) = &mut file.shell {
            shell.network_was_full = says_full(text);
        }
        let at = |span: std::ops::Range<usize>, what: &str, why: InvalidRoot| {
            let line = 1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count();
            format!("line {line}: {what}: {why}")
        };
        let mut roots = Vec::new();
        for (id, entry) in file.roots {
            let span = entry.span();
            let lent = match entry.into_inner() {
                RootEntry::Short(path) => LentRoot::of(&id, &path, None, None, places),
                RootEntry::Long(LongRoot { path, mode, virtual_path, label }) => {
                    let mut lent = LentRoot::of(&id, "-", virtual_path, label, places);
                    if let Ok(lent) = &mut lent {
                        lent.root.mode = mode;
                    }
                    lent.and_then(|lent| Ok(LentRoot { directory: places.find(&path)?, ..lent }))
                }
            };
            roots.push(lent.map_err(|why| at(span, &format!("roots.{id}"), why))?);
        }
        let tools = file.tools.map(|tools| {
            let span = tools.span();
            places.find(tools.get_ref()).map_err(|why| at(span, "tools", why))
        });
        let RulesSection { writes, commands, tools: use_of_tools } = file.rules;
        let unsaid = Rules::default();
        Ok(Self {
            hub: file.hub,
            client_id: file.client_id,
            label: file.label,
            roots,
            shell: file.shell,
            tools: tools.transpose()?,
            tool_socket: file.tool_socket,
            rules: Rules {
                writes: writes.unwrap_or(unsaid.writes),
                commands: commands.unwrap_or(unsaid.commands),
                tools: use_of_tools.unwrap_or(unsaid.tools),
            },
        })
    }
}

/// Whether the file has the old spelling of a network.
fn says_full(text: &str) -> bool {
    let network = |file: &toml::Table| Some(file.get("shell")?.get("network")?.as_str()? == "full");
    toml::from_str(text).is_ok_and(|file| network(&file).unwrap_or_default())
}
