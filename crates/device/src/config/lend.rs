//! One directory that is lent, as `id=path[:ro|:rw]`.

use std::path::{Path, PathBuf};

use protocol::{
    InvalidId,
    relay::{InvalidPath, Root, RootMode, VirtualPath},
};

use super::LentRoot;

/// Why a directory cannot be lent as it was said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRoot {
    /// It has no name.
    #[error("expected NAME=DIRECTORY, such as `main=~/code:rw`")]
    Form,
    /// Its mode is none.
    #[error("the mode `{0}` does not exist: write ro (read-only) or rw (writable)")]
    Mode(String),
    /// Its name is none.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// Where a model would see it makes no sense.
    #[error(transparent)]
    VirtualPath(#[from] InvalidPath),
    /// It is below a home that is not known.
    #[error("`~` cannot be resolved because HOME is not set; write the full path")]
    NoHome,
}

/// Where relative paths and `~` lead.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The directory that relative paths start from.
    pub base: &'a Path,
    /// The home of the user.
    pub home: Option<&'a Path>,
}

impl LentRoot {
    /// Reads `id=path`, `id=path:ro` or `id=path:rw`; only reading is allowed unless it says more.
    ///
    /// # Errors
    /// If it is something else.
    pub fn parse(text: &str, places: Places<'_>) -> Result<Self, InvalidRoot> {
        let (id, rest) = text.split_once('=').ok_or(InvalidRoot::Form)?;
        Self::of(id, rest, None, None, places)
    }

    pub(super) fn of(
        id: &str,
        path: &str,
        virtual_path: Option<VirtualPath>,
        label: Option<String>,
        places: Places<'_>,
    ) -> Result<Self, InvalidRoot> {
        let (path, mode) = match path.rsplit_once(':') {
            Some((path, "ro")) => (path, RootMode::Ro),
            Some((path, "rw")) => (path, RootMode::Rw),
            // The name of a directory may contain a colon, but hardly ends in permissions.
            Some((_, mode)) if !mode.is_empty() && mode.chars().all(|letter| "rwxo".contains(letter)) => {
                return Err(InvalidRoot::Mode(mode.to_owned()));
            }
            _ => (path, RootMode::Ro),
        };
        let root_id = id.parse()?;
        let virtual_path = match virtual_path {
            Some(path) => path,
            None => format!("/workspace/{root_id}").parse()?,
        };
        Ok(Self { root: Root { root_id, label, virtual_path, mode }, directory: places.find(path)? })
    }
}

impl Places<'_> {
    /// A path as people write it.
    pub(super) fn find(self, path: &str) -> Result<PathBuf, InvalidRoot> {
        if path.is_empty() {
            return Err(InvalidRoot::Form);
        }
        let below_home = path.strip_prefix("~/").or_else(|| (path == "~").then_some(""));
        Ok(match below_home {
            Some(rest) => self.home.ok_or(InvalidRoot::NoHome)?.join(rest),
            None => self.base.join(path),
        })
    }
}
