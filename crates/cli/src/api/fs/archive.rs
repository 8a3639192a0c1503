//! Packs a local directory into a tar archive while it is uploaded.

use std::{io, path::PathBuf};

use client::Upload;
use tokio::task::JoinHandle;
use tokio_util::io::SyncIoBridge;

use crate::exit::{CommandError, local};

/// Packing pauses when this many bytes wait to be sent.
const AHEAD_BYTES_MAX: usize = 1 << 20;

/// A background task that packs a directory.
#[derive(Debug)]
pub(super) struct PackingTask {
    directory: PathBuf,
    task: JoinHandle<io::Result<()>>,
}

impl PackingTask {
    /// Waits for the task. A broken pipe is no error here: the server stopped reading, and its answer says why.
    pub(super) async fn finished(self) -> Result<(), CommandError> {
        match self.task.await {
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(local(&format!("pack `{}`", self.directory.display()), error))
            }
            _ => Ok(()),
        }
    }
}

/// Packs the content of `directory`; symbolic links stay links.
pub(super) fn pack(directory: PathBuf) -> (Upload, PackingTask) {
    let (writer, reader) = tokio::io::duplex(AHEAD_BYTES_MAX);
    let source = directory.clone();
    let pack = move || {
        let mut archive = tar::Builder::new(SyncIoBridge::new(writer));
        archive.follow_symlinks(false);
        archive.append_dir_all(".", &source)?;
        // Write the end-of-archive blocks only on success: without them the daemon recognises a truncated archive.
        archive.into_inner().map(drop)
    };
    (Upload::reader(reader), PackingTask { directory, task: tokio::task::spawn_blocking(pack) })
}
