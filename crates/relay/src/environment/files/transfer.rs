//! Copies and moves files, for which the protocol has no methods.

use futures_util::TryStreamExt;
use protocol::relay::{
    RelayError, RelayErrorCode, RootMode, VirtualPath,
    file::{EntryKind, FileStat},
};

use super::{At, Dir, Error, FileOperator, Files, Seen, Span, found};

/// Copies a file, or a directory with its contents.
pub(super) async fn copy(files: &Files, from: &At, to: &At) -> Result<(), Error> {
    if from.seen == to.seen {
        return Ok(());
    }
    if !files.stat(&from.said).await?.is_dir {
        return copy_file(files, from.seen.as_str(), to.seen.as_str()).await;
    }
    // List everything before creating anything, so that the copy is not copied itself.
    let all: Vec<Seen> = files.walk(from.seen.as_str()).try_collect().await?;
    if from.seen.below(&to.seen).is_some() || leads_into(files, to, from, &all).await? {
        let error =
            RelayError::new(RelayErrorCode::InvalidRequest, "a directory cannot be copied into itself");
        return Err(to.error(error));
    }
    files.mkdir(to.seen.as_str(), Dir::Whole).await?;
    for seen in all {
        let Some(target) = moved(from, to, &seen.path) else { continue };
        match seen.entry.kind {
            EntryKind::Dir => files.mkdir(target.as_str(), Dir::Whole).await?,
            // Copy the target of a link. If that is a directory, the copy fails, which is better than an incomplete copy.
            EntryKind::File | EntryKind::Symlink => {
                copy_file(files, seen.path.as_str(), target.as_str()).await?
            }
            EntryKind::Other => {
                let error = RelayError::new(
                    RelayErrorCode::InvalidRequest,
                    "only files and directories can be copied",
                );
                return Err(Error::file(seen.path.as_str(), error));
            }
        }
    }
    Ok(())
}

/// Copies, then deletes.
pub(super) async fn rename(files: &Files, from: &At, to: &At) -> Result<(), Error> {
    if from.seen == to.seen {
        return Ok(());
    }
    // Check this first: the source could be copied, but not deleted afterwards.
    if from.root.mode == RootMode::Ro {
        return Err(
            from.error(RelayError::new(RelayErrorCode::PermissionDenied, "the directory is read-only"))
        );
    }
    // Do not destroy existing data: only a file may replace a file.
    if found(files.stat(to.seen.as_str()).await)?.is_some_and(|there| there.is_dir) {
        return Err(conflict(to.said.as_str(), "a directory of this name already exists"));
    }
    let before = files.stat(from.seen.as_str()).await?;
    copy(files, from, to).await?;
    if files.stat(from.seen.as_str()).await? != before {
        return Err(conflict(
            from.said.as_str(),
            "the source changed while it was copied, so it was not deleted",
        ));
    }
    files.delete(from.seen.as_str(), Dir::Whole).await
}

/// Copies a file onto another one. Both may be the same file by different paths; writing it would truncate it while it is read.
async fn copy_file(files: &Files, from: &str, to: &str) -> Result<(), Error> {
    if let Some(there) = found(files.stat(to).await)?
        && is_same(&files.stat(from).await?, &there)
    {
        return Err(conflict(to, "source and target are the same file"));
    }
    files.write_stream(to, files.stream(from, Span::default())).await
}

/// Whether a path is within a directory, also through links or through another root with the same directory.
async fn leads_into(files: &Files, place: &At, directory: &At, inside: &[Seen]) -> Result<bool, Error> {
    let mut above = place.seen.clone();
    let there = loop {
        if let Some(there) = found(files.stat(above.as_str()).await)? {
            break there;
        }
        match above.as_str().rsplit_once('/').and_then(|(above, _)| above.parse().ok()) {
            Some(next) => above = next,
            None => return Ok(false),
        }
    };
    let directories = inside.iter().filter(|seen| seen.entry.kind == EntryKind::Dir).map(|seen| &seen.path);
    for path in [&directory.seen].into_iter().chain(directories) {
        // A directory that was deleted meanwhile does not count.
        if found(files.stat(path.as_str()).await)?.is_some_and(|stat| is_same(&stat, &there)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two entries are the same file or directory. If the device does not report identities, equal metadata counts as the same.
fn is_same(one: &FileStat, other: &FileStat) -> bool {
    let looks = |stat: &FileStat| (stat.is_dir, stat.size_bytes, stat.mtime, stat.mode);
    match (&one.file_id, &other.file_id) {
        (Some(one), Some(other)) => one == other,
        _ => looks(one) == looks(other),
    }
}

fn conflict(path: &str, why: &str) -> Error {
    Error::file(path, RelayError::new(RelayErrorCode::InvalidRequest, why).with("reason", "conflict"))
}

/// Maps a path below `from` to the corresponding one below `to`.
fn moved(from: &At, to: &At, path: &VirtualPath) -> Option<VirtualPath> {
    to.seen.join(&from.seen.below(path)?)
}
