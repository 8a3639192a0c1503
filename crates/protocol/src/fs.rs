//! Wire types of `/v1/fs`: files and directories of the sandbox.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The response of `GET /v1/fs/entries`: a page of a directory, sorted by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntryList {
    /// The entries.
    pub items: Vec<DirectoryEntry>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    pub next_cursor: Option<String>,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntry {
    /// The name within the directory.
    pub name: String,
    /// The full path.
    pub path: String,
    /// The kind of file; symbolic links are not followed.
    pub kind: FileKind,
    /// The size in bytes.
    pub size: u64,
    /// When the content last changed.
    pub modified_at: Option<Timestamp>,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, socket or pipe.
    Other,
}

/// The response of `GET /v1/fs/stat`. Symbolic links are followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileMetadata {
    /// The requested path.
    pub path: String,
    /// The kind of file.
    pub kind: FileKind,
    /// The size in bytes.
    pub size: u64,
    /// The permission bits (`mode & 0o7777`).
    pub mode: u32,
    /// When the content last changed.
    pub modified_at: Option<Timestamp>,
    /// The target, if the path is a symbolic link.
    pub symlink_target: Option<String>,
    /// Changes with the content; for `If-Match` and `If-None-Match`, with or without quotes.
    pub etag: String,
}

/// The response of `PUT /v1/fs/file`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileWritten {
    /// The file.
    pub path: String,
    /// The new size.
    pub bytes: u64,
    /// The new entity tag.
    pub etag: String,
}

/// The body of `POST /v1/fs/mkdir`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateDirectoryRequest {
    /// The directory to create.
    #[schemars(length(min = 1, max = 4096))]
    pub path: String,
}

/// The response of `POST /v1/fs/mkdir`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryCreated {
    /// The directory.
    pub path: String,
    /// Whether it was created; false if it existed.
    pub created: bool,
}

/// The body of `POST /v1/fs/move`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveFileRequest {
    /// The path to move.
    pub from: String,
    /// The new path.
    pub to: String,
    /// Whether to replace an existing file at the new path.
    #[serde(default)]
    pub overwrite: bool,
}

/// The response of `POST /v1/fs/move`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileMoved {
    /// The old path.
    pub from: String,
    /// The new path.
    pub to: String,
}

/// The response of `POST /v1/fs/upload-batch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveUnpacked {
    /// The target directory.
    pub path: String,
    /// The number of files and links written.
    pub files: u64,
    /// The number of directories in the archive.
    pub directories: u64,
    /// The number of bytes written.
    pub bytes: u64,
}

crate::schema::wire_types! {
    received: CreateDirectoryRequest, MoveFileRequest;
    sent: DirectoryEntryList, FileMetadata, FileWritten, DirectoryCreated, FileMoved, ArchiveUnpacked;
}
