//! A local directory as a tar archive, packed while it is sent.

use std::{io, path::PathBuf};

use client::Upload;
use tokio::task::JoinHandle;
use tokio_util::io::SyncIoBridge;

use crate::exit::{Failure, local};

/// How much may be packed ahead of what is sent.
const AHEAD_BYTES_MAX: usize = 1 << 20;

/// The packing of a directory, while it goes on.
#[derive(Debug)]
pub(super) struct Packing {
    directory: PathBuf,
    task: JoinHandle<io::Result<()>>,
}

impl Packing {
    /// Waits until it is done; why it failed, unless the server had enough before.
    pub(super) async fn finished(self) -> Result<(), Failure> {
        match self.task.await {
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(local(&format!("pack `{}`", self.directory.display()), error))
            }
            _ => Ok(()),
        }
    }
}

/// The content of `directory` as an archive; links are kept as links.
pub(super) fn of(directory: PathBuf) -> (Upload, Packing) {
    let (packed, sent) = tokio::io::duplex(AHEAD_BYTES_MAX);
    let source = directory.clone();
    let pack = move || {
        let mut archive = tar::Builder::new(SyncIoBridge::new(packed));
        archive.follow_symlinks(false);
        archive.append_dir_all(".", &source)?;
        // Dropping the other end without these blocks would make half an archive look whole.
        archive.into_inner().map(drop)
    };
    (Upload::reader(sent), Packing { directory, task: tokio::task::spawn_blocking(pack) })
}
