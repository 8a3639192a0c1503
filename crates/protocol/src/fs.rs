//! `/v1/fs`: files and directories of the sandbox.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `GET /v1/fs/entries`: one page of a directory, sorted by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntryList {
    /// What the directory holds.
    pub items: Vec<DirectoryEntry>,
    /// Pass it as `after` for the next page; `null` on the last one.
    pub next_cursor: Option<String>,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntry {
    /// Its name in the directory.
    pub name: String,
    /// Its whole path.
    pub path: String,
    /// What it is; a link is told as a link.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed.
    pub modified_at: Option<Timestamp>,
}

/// What a path leads to.
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

/// The answer of `GET /v1/fs/stat`: what a path leads to, links followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileMetadata {
    /// The path that was asked for.
    pub path: String,
    /// What it leads to.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// Its permission bits, as `0o7777` shows them.
    pub mode: u32,
    /// When its content last changed.
    pub modified_at: Option<Timestamp>,
    /// Where the path points, if it is a link itself.
    pub symlink_target: Option<String>,
    /// Changes whenever the content does; usable in `If-Match` and `If-None-Match`.
    pub etag: String,
}

/// The answer of `PUT /v1/fs/file`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileWritten {
    /// The file.
    pub path: String,
    /// Its size now.
    pub bytes: u64,
    /// Its validator now.
    pub etag: String,
}

/// The answer of `POST /v1/fs/mkdir`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryCreated {
    /// The directory.
    pub path: String,
    /// False if it was there already.
    pub created: bool,
}

/// `POST /v1/fs/move`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveFileRequest {
    /// What to move.
    pub from: String,
    /// Its new path.
    pub to: String,
    /// Replace what is there.
    #[serde(default)]
    pub overwrite: bool,
}

/// The answer of `POST /v1/fs/move`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileMoved {
    /// Where it was.
    pub from: String,
    /// Where it is.
    pub to: String,
}

/// The answer of `POST /v1/fs/upload-batch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveUnpacked {
    /// The directory that was unpacked into.
    pub path: String,
    /// Files and links that were written.
    pub files: u64,
    /// Directories that were made or kept.
    pub directories: u64,
    /// Bytes of content.
    pub bytes: u64,
}
