//! Where something is asked for.

use std::sync::Arc;

use files::RootedPath;
use protocol::relay::{RelayError, RelayErrorCode, RelayPath, RequestLimits, RootId, RootMode};

use super::refusal;
use crate::Roots;

/// A path in a root, and what may be done there.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) root_id: RootId,
    pub(super) files: Arc<files::RootDirectory>,
    /// Without `.` and `..`: what is looked at is what was asked for and written down.
    pub(super) path: RelayPath,
    mode: RootMode,
}

impl Spot {
    /// The spot that is asked for, under these terms.
    pub(super) fn find(
        roots: &Roots,
        terms: Option<&RequestLimits>,
        root_id: &RootId,
        path: &RelayPath,
    ) -> Result<Self, RelayError> {
        let (lent, mode) = roots.find(root_id, terms)?;
        let path = path.normalized().ok_or_else(|| refusal::outside(root_id, path))?;
        Ok(Self { root_id: root_id.clone(), files: lent.files.clone(), path, mode })
    }

    /// The same, where something may be changed.
    pub(super) fn for_change(self) -> Result<Self, RelayError> {
        match self.mode {
            RootMode::Rw => Ok(self),
            RootMode::Ro => Err(RelayError::new(RelayErrorCode::PermissionDenied, "the root is read-only")
                .with("root_id", self.root_id.as_str())
                .with("reason", "read_only")),
        }
    }

    /// Whether it is the root itself.
    pub(super) fn is_root(&self) -> bool {
        self.path.as_str().is_empty()
    }

    /// The path, seen from the root.
    pub(super) fn at(&self) -> Result<RootedPath, RelayError> {
        RootedPath::parse(format!("/{}", self.path)).map_err(|error| self.refused(&error))
    }

    /// What whoever asked is told.
    pub(super) fn refused(&self, error: &files::Error) -> RelayError {
        refusal::of(error, &self.root_id, &self.path)
    }
}
