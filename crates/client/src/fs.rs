//! `/v1/fs`: files and directories of the sandbox.

use protocol::fs::{
    ArchiveUnpacked, DirectoryCreated, DirectoryEntryList, FileMetadata, FileMoved, FileWritten,
    MoveFileRequest,
};
use reqwest::{Method, header};

use crate::{Answer, Client, Download, Result, Upload};

/// The files of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Fs<'a>(pub(crate) &'a Client);

/// Which part of a directory to list.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Only names after this one.
    pub after: Option<String>,
    /// How many at most; the daemon's choice if none.
    pub limit: Option<u32>,
}

impl Fs<'_> {
    /// One page of a directory.
    pub async fn entries(self, path: &str, page: &Page) -> Result<Answer<DirectoryEntryList>> {
        let limit = page.limit.map(|limit| limit.to_string());
        let query = [("path", Some(path)), ("cursor", page.after.as_deref()), ("limit", limit.as_deref())];
        self.0.ask(Method::GET, &["v1", "fs", "entries"], &query).await
    }

    /// The content of a file; `range` as in the header `Range`, such as `bytes=0-99`.
    pub async fn read(self, path: &str, range: Option<&str>) -> Result<Download> {
        let mut request = self.0.request(Method::GET, &["v1", "fs", "file"]).query(&[("path", path)]);
        if let Some(range) = range {
            request = request.header(header::RANGE, range);
        }
        Download::open(request).await
    }

    /// Writes a file: readers see the old content or the new. `parents` makes the directories on the way.
    pub async fn write(self, path: &str, parents: bool, content: Upload) -> Result<Answer<FileWritten>> {
        let parents = if parents { "true" } else { "false" };
        let query = [("path", path), ("parents", parents)];
        let request = self.0.request(Method::PUT, &["v1", "fs", "file"]).query(&query);
        content.send(request.header(header::CONTENT_TYPE, "application/octet-stream")).await
    }

    /// Removes a file, or a directory; with `recursive` also one that is not empty.
    pub async fn delete(self, path: &str, recursive: bool) -> Result<Answer<()>> {
        let recursive = recursive.then_some("true");
        self.0
            .ask(Method::DELETE, &["v1", "fs", "entry"], &[("path", Some(path)), ("recursive", recursive)])
            .await
    }

    /// Makes a directory, and those missing on the way.
    pub async fn mkdir(self, path: &str) -> Result<Answer<DirectoryCreated>> {
        self.0.ask(Method::POST, &["v1", "fs", "mkdir"], &[("path", Some(path))]).await
    }

    /// Moves or renames a file or a directory.
    pub async fn rename(self, change: &MoveFileRequest) -> Result<Answer<FileMoved>> {
        self.0.tell(Method::POST, &["v1", "fs", "move"], &[], change).await
    }

    /// What a path leads to.
    pub async fn stat(self, path: &str) -> Result<Answer<FileMetadata>> {
        self.0.ask(Method::GET, &["v1", "fs", "stat"], &[("path", Some(path))]).await
    }

    /// Unpacks a tar archive, plain or gzip, into a directory: all of it or nothing.
    pub async fn upload_batch(self, path: &str, archive: Upload) -> Result<Answer<ArchiveUnpacked>> {
        let request = self.0.request(Method::POST, &["v1", "fs", "upload-batch"]).query(&[("path", path)]);
        archive.send(request.header(header::CONTENT_TYPE, "application/x-tar")).await
    }
}
