//! Virtual paths: the absolute paths that agents see.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InvalidPath, RelayPath, relay_path};

/// An absolute path as an agent sees it, such as `/workspace/main/README.md`. It is normalised, is never `/` and
/// contains no `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct VirtualPath(String);

impl VirtualPath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `path` relative to this one: empty if both are equal, `None` if `path` is not below.
    pub fn below(&self, path: &Self) -> Option<RelayPath> {
        let rest = path.0.strip_prefix(&self.0)?;
        let relative = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
        relative.parse().ok()
    }

    /// Appends a relative path. Returns `None` if the result would not be below this path.
    pub fn join(&self, path: &RelayPath) -> Option<Self> {
        let path = path.normalized()?;
        if path.as_str().is_empty() {
            return Some(self.clone());
        }
        Some(Self(format!("{self}/{path}")))
    }
}

impl FromStr for VirtualPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        if !text.starts_with('/') {
            return Err(InvalidPath::Relative);
        }
        relay_path::check_spelling(text)?;
        let parts: Vec<_> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.is_empty() {
            return Err(InvalidPath::Relative);
        }
        if parts.contains(&"..") {
            return Err(InvalidPath::Parent);
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }
}

impl TryFrom<String> for VirtualPath {
    type Error = InvalidPath;

    fn try_from(text: String) -> Result<Self, InvalidPath> {
        text.parse()
    }
}

impl From<VirtualPath> for String {
    fn from(path: VirtualPath) -> String {
        path.0
    }
}

impl fmt::Display for VirtualPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
