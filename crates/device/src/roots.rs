//! The directories that a device lends.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use protocol::relay::{
    RelayError, RelayErrorCode, RelayPath, RequestLimits, Root, RootId, RootMode, VirtualPath,
};

/// The directories that a device lends.
#[derive(Debug, Default)]
pub struct Roots(Vec<Lent>);

/// A directory that a device lends.
#[derive(Debug)]
pub struct Lent {
    /// What others know of it.
    pub root: Root,
    /// Where it is; nobody else is told.
    pub directory: PathBuf,
    /// What is done in it goes through this.
    pub files: Arc<files::RootDirectory>,
}

/// Why directories cannot be lent.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// One cannot be opened.
    #[error("could not open the root directory `{}`", directory.display())]
    Open {
        /// Where it is.
        directory: PathBuf,
        /// Why.
        source: files::Error,
    },
    /// Two have the same name.
    #[error("two roots are named `{0}`; rename one of them")]
    Twice(RootId),
    /// One is seen within another.
    #[error("the virtual path of root `{0}` lies within that of root `{1}`; set another `virtual_path`")]
    Within(VirtualPath, VirtualPath),
}

impl Roots {
    /// Opens the directories that are to be lent.
    ///
    /// # Errors
    /// If one cannot be opened, or two cannot be told apart.
    pub fn open(lent: impl IntoIterator<Item = (Root, PathBuf)>) -> Result<Self, OpenError> {
        let mut roots = Self::default();
        for (root, directory) in lent {
            for Lent { root: other, .. } in &roots.0 {
                if other.root_id == root.root_id {
                    return Err(OpenError::Twice(root.root_id));
                }
                let (one, two) = (&root.virtual_path, &other.virtual_path);
                if one.below(two).is_some() || two.below(one).is_some() {
                    return Err(OpenError::Within(one.clone(), two.clone()));
                }
            }
            let files = Arc::new(open(&directory)?);
            roots.0.push(Lent { root, directory, files });
        }
        Ok(roots)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Lent> {
        self.0.iter()
    }

    /// One of them, and what may be done in it under these terms.
    ///
    /// # Errors
    /// `permission_denied` if it is not lent: whoever asks does not learn whether it is there.
    pub fn find(&self, id: &RootId, terms: Option<&RequestLimits>) -> Result<(&Lent, RootMode), RelayError> {
        let lent = self.0.iter().find(|lent| lent.root.root_id == *id);
        let granted = lent.and_then(|lent| Some((lent, allowed(lent, terms)?)));
        granted.ok_or_else(|| {
            RelayError::new(RelayErrorCode::PermissionDenied, "there is no such root")
                .with("root_id", id.as_str())
        })
    }

    /// The one in which a path is, where in it that is, and what may be done there under these terms.
    ///
    /// # Errors
    /// `permission_denied` if it is in none that is lent.
    pub fn at(
        &self,
        path: &VirtualPath,
        terms: Option<&RequestLimits>,
    ) -> Result<(&Lent, RelayPath, RootMode), RelayError> {
        let within = |lent: &'_ Lent| lent.root.virtual_path.below(path);
        let found = self.0.iter().find_map(|lent| Some((lent, within(lent)?, allowed(lent, terms)?)));
        found.ok_or_else(|| {
            RelayError::new(RelayErrorCode::PermissionDenied, "the path is outside every root")
                .with("path", path.as_str())
        })
    }
}

/// What may be done in it: the stricter of what its owner and the terms say.
fn allowed(lent: &Lent, terms: Option<&RequestLimits>) -> Option<RootMode> {
    match terms {
        None => Some(lent.root.mode),
        Some(terms) => Some(lent.root.mode.min(terms.mode(&lent.root.root_id)?)),
    }
}

fn open(directory: &Path) -> Result<files::RootDirectory, OpenError> {
    let failed = |source| OpenError::Open { directory: directory.to_owned(), source };
    files::RootDirectory::open_beneath(directory).map_err(failed)
}
