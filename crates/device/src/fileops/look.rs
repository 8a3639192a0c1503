//! `file.stat`, `file.mkdir` and `file.delete`.

use files::{EntryMetadata, EntryType, FileErrorCause, LinkHandling, ParentDirectories, RemovalScope};
use jiff::Timestamp;
use protocol::relay::{
    RelayError, RelayErrorCode,
    file::{DeleteFileResult, EntryKind, FileStat, MakeDirectoryResult},
};
use tokio_util::sync::CancellationToken;

use super::Spot;

/// Describes what a path leads to. A link is called one, and everything else is of what it leads to, if it leads somewhere.
pub(super) fn stat(spot: &Spot) -> Result<FileStat, RelayError> {
    let at = spot.at()?;
    let look = |links| spot.files.stat(&at, links);
    let itself = look(LinkHandling::Keep).map_err(|error| spot.refused(&error))?;
    let target = match look(LinkHandling::Follow) {
        Ok(target) => target,
        Err(error) if matches!(error.cause, FileErrorCause::NotFound | FileErrorCause::NotADirectory) => {
            itself.clone()
        }
        Err(error) => return Err(spot.refused(&error)),
    };
    Ok(FileStat {
        kind: kind(itself.kind),
        size_bytes: target.size,
        mtime: mtime(&target),
        mode: target.mode,
        is_file: target.kind == EntryType::File,
        is_dir: target.kind == EntryType::Directory,
        file_id: Some(format!("{:x}-{:x}", target.device, target.inode)),
    })
}

/// Makes a directory, with those above it if it is asked for.
pub(super) fn mkdir(spot: &Spot, parents: bool) -> Result<MakeDirectoryResult, RelayError> {
    let refused = |error: &files::Error| spot.refused(error);
    let created = match parents {
        true => spot.files.mkdir(&spot.at()?, ParentDirectories::Create).map_err(|error| refused(&error))?,
        false => {
            spot.files.mkdir(&spot.at()?, ParentDirectories::Require).map_err(|error| refused(&error))?
        }
    };
    if !created && !parents {
        let message = format!("could not make the directory `{}`: it already exists", spot.path);
        return Err(RelayError::new(RelayErrorCode::InvalidRequest, message)
            .with("root_id", spot.root_id.as_str())
            .with("reason", "exists"));
    }
    Ok(MakeDirectoryResult { created })
}

/// Deletes a file, a link, an empty directory, or a directory with all that is in it. When it is stopped, what
/// is left of a directory stays.
pub(super) fn delete(
    spot: &Spot,
    recursive: bool,
    stop: &CancellationToken,
) -> Result<DeleteFileResult, RelayError> {
    if spot.is_root() {
        return Err(RelayError::new(RelayErrorCode::PermissionDenied, "a root cannot be deleted")
            .with("root_id", spot.root_id.as_str())
            .with("reason", "root"));
    }
    let removal = if recursive { RemovalScope::Tree } else { RemovalScope::Entry };
    match spot.files.remove_while(&spot.at()?, removal, || !stop.is_cancelled()) {
        Ok(()) => Ok(DeleteFileResult { deleted: true }),
        Err(error) if matches!(error.cause, FileErrorCause::NotFound | FileErrorCause::NotADirectory) => {
            Ok(DeleteFileResult { deleted: false })
        }
        Err(error) => Err(spot.refused(&error)),
    }
}

pub(super) fn kind(kind: EntryType) -> EntryKind {
    match kind {
        EntryType::File => EntryKind::File,
        EntryType::Directory => EntryKind::Dir,
        EntryType::Symlink => EntryKind::Symlink,
        EntryType::Other => EntryKind::Other,
    }
}

pub(super) fn mtime(stat: &EntryMetadata) -> Timestamp {
    time(stat.modified)
}

/// A time that no clock reaches is shown as the epoch.
pub(super) fn time(time: std::time::SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH)
}
