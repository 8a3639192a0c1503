//! `/v1/fs`: the files and directories of the sandbox.

use protocol::fs::{
    ArchiveUnpacked, CreateDirectoryRequest, DirectoryCreated, DirectoryEntryList, FileMetadata, FileMoved,
    FileWritten, MoveFileRequest,
};
use reqwest::{Method, header};

use crate::{ApiResponse, Client, Download, Result, Upload};

/// The files of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct FsApi<'a>(pub(crate) &'a Client);

/// Which part of a directory to list.
#[derive(Debug, Clone, Default)]
pub struct EntryPageOptions {
    /// The `nextCursor` of the previous page.
    pub after: Option<String>,
    /// The maximum number of entries; the daemon's default if `None`.
    pub limit: Option<u32>,
}

impl FsApi<'_> {
    /// Lists one page of a directory.
    pub async fn entries(
        self,
        path: &str,
        page: &EntryPageOptions,
    ) -> Result<ApiResponse<DirectoryEntryList>> {
        let limit = page.limit.map(|limit| limit.to_string());
        let query = [("path", Some(path)), ("cursor", page.after.as_deref()), ("limit", limit.as_deref())];
        self.0.call(Method::GET, &["v1", "fs", "entries"], &query).await
    }

    /// Reads a file. `range` has the syntax of the header `Range`, such as `bytes=0-99`.
    pub async fn read(self, path: &str, range: Option<&str>) -> Result<Download> {
        let mut request = self.0.request(Method::GET, &["v1", "fs", "file"]).query(&[("path", path)]);
        if let Some(range) = range {
            request = request.header(header::RANGE, range);
        }
        Download::open(request).await
    }

    /// Writes a file atomically. `parents` creates missing parent directories.
    pub async fn write(self, path: &str, parents: bool, content: Upload) -> Result<ApiResponse<FileWritten>> {
        let parents = if parents { "true" } else { "false" };
        let query = [("path", path), ("parents", parents)];
        let request = self.0.request(Method::PUT, &["v1", "fs", "file"]).query(&query);
        content.send(request.header(header::CONTENT_TYPE, "application/octet-stream")).await
    }

    /// Removes a file or a directory; with `recursive` also a directory that is not empty.
    pub async fn delete(self, path: &str, recursive: bool) -> Result<ApiResponse<()>> {
        let recursive = recursive.then_some("true");
        self.0
            .call(Method::DELETE, &["v1", "fs", "entry"], &[("path", Some(path)), ("recursive", recursive)])
            .await
    }

    /// Creates a directory and its missing parents.
    pub async fn mkdir(self, path: &str) -> Result<ApiResponse<DirectoryCreated>> {
        let create = CreateDirectoryRequest { path: path.into() };
        self.0.call_with_body(Method::POST, &["v1", "fs", "mkdir"], &[], &create).await
    }

    /// Moves or renames a file or a directory.
    pub async fn rename(self, change: &MoveFileRequest) -> Result<ApiResponse<FileMoved>> {
        self.0.call_with_body(Method::POST, &["v1", "fs", "move"], &[], change).await
    }

    /// Reads the metadata of a file or directory.
    pub async fn stat(self, path: &str) -> Result<ApiResponse<FileMetadata>> {
        self.0.call(Method::GET, &["v1", "fs", "stat"], &[("path", Some(path))]).await
    }

    /// Unpacks a tar archive, plain or gzip, into a directory: all of it or nothing.
    pub async fn upload_batch(self, path: &str, archive: Upload) -> Result<ApiResponse<ArchiveUnpacked>> {
        let request = self.0.request(Method::POST, &["v1", "fs", "upload-batch"]).query(&[("path", path)]);
        archive.send(request.header(header::CONTENT_TYPE, "application/x-tar")).await
    }
}
