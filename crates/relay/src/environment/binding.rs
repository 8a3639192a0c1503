//! Resolves virtual paths to roots.

use std::collections::BTreeSet;

use protocol::relay::{Binding, RelayError, RelayErrorCode, RelayPath, Root, VirtualPath};

use super::Error;

/// The target of a virtual path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A path within a root.
    Inside {
        /// The root.
        root: Root,
        /// The path within the root.
        path: RelayPath,
        /// The normalised virtual path.
        seen: VirtualPath,
    },
    /// A virtual directory above roots, which exists on no disk.
    Above {
        /// Its path with a trailing `/`.
        prefix: String,
        /// Its entries.
        names: BTreeSet<String>,
    },
}

/// The directory of relative paths, and of commands without a `cwd`: the first root.
pub(super) fn home(binding: &Binding) -> Option<&VirtualPath> {
    binding.roots.first().map(|root| &root.virtual_path)
}

/// Resolves a path. `.` and `..` have their usual meaning.
pub(super) fn find(binding: &Binding, said: &str) -> Result<Place, Error> {
    let parts = resolve(binding, said);
    if parts.is_empty() {
        return Ok(Place::Above { prefix: "/".into(), names: below(binding, "/") });
    }
    let seen: VirtualPath = format!("/{}", parts.join("/")).parse().map_err(|invalid| {
        Error::file(said, RelayError::new(RelayErrorCode::InvalidRequest, format!("{invalid}")))
    })?;
    let inside = |root: &Root| Some((root.clone(), root.virtual_path.below(&seen)?));
    if let Some((root, path)) = binding.roots.iter().find_map(inside) {
        return Ok(Place::Inside { root, path, seen });
    }
    let prefix = format!("{seen}/");
    let names = below(binding, &prefix);
    if names.is_empty() {
        let reason = "the path is outside every root of the environment".into();
        return Err(Error::PathNotAllowed { path: said.to_owned(), reason });
    }
    Ok(Place::Above { prefix, names })
}

fn resolve<'a>(binding: &'a Binding, said: &'a str) -> Vec<&'a str> {
    let from = if said.starts_with('/') { "" } else { home(binding).map_or("", VirtualPath::as_str) };
    let mut parts = Vec::new();
    for part in from.split('/').chain(said.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

/// The entries of a virtual directory above roots.
fn below(binding: &Binding, prefix: &str) -> BTreeSet<String> {
    let rest = binding.roots.iter().filter_map(|root| root.virtual_path.as_str().strip_prefix(prefix));
    rest.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect()
}
