//! `file.*`: files and directories below a root.

mod search;
mod watch;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use search::{CaseSensitivity, MatchBatch, SearchFiles, SearchMatch, SearchSummary};
pub use watch::{ChangeKind, WatchFiles, WatchStarted, WatchedChange};

use super::{Encoding, RelayPath, RootId, Sha256};

/// Parameters of `file.read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadFile {
    /// The root.
    pub root_id: RootId,
    /// Path of the file.
    pub path: RelayPath,
    /// Encoding of the returned bytes.
    #[serde(default)]
    pub encoding: ReadEncoding,
    /// Position of the first byte; 0 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Maximum number of bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
}

/// Encoding of file content that is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReadEncoding {
    /// Plain UTF-8 text.
    #[default]
    #[serde(rename = "utf-8", alias = "utf8")]
    Utf8,
    /// Base64 with padding.
    #[serde(rename = "base64")]
    Base64,
    /// Raw bytes after the response in a binary message. Requires that both sides support
    /// [`BINARY_READ`](super::BINARY_READ).
    #[serde(rename = "binary")]
    Binary,
}

/// Content of a file, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileContent {
    /// The bytes in the given encoding; empty if they follow the response in a binary message.
    pub content: String,
    /// Encoding of `content`.
    #[serde(default)]
    pub encoding: ReadEncoding,
    /// Size of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Whether the content reaches the end of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eof: Option<bool>,
}

/// Parameters of `file.write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteFile {
    /// The root.
    pub root_id: RootId,
    /// Path of the file.
    pub path: RelayPath,
    /// The bytes in the given encoding.
    pub content: String,
    /// Encoding of `content`.
    #[serde(default)]
    pub encoding: Encoding,
    /// Append to the file instead of replacing it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether the file may or must exist already; it may by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<CreateMode>,
    /// Write only if the file is still in this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_match: Option<IfMatch>,
}

/// Whether a file may or must exist before a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreateMode {
    /// The file may exist.
    #[default]
    Always,
    /// The file must not exist.
    New,
    /// The file must exist.
    Existing,
}

/// A version of a file, as the caller last saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum IfMatch {
    /// Identified by content.
    Hash {
        /// SHA-256 of the content.
        sha256: Sha256,
    },
    /// Identified by metadata.
    Stamp {
        /// Modification time.
        mtime: Timestamp,
        /// Size in bytes.
        size_bytes: u64,
    },
}

/// Result of `file.write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteFileResult {
    /// New size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the whole file.
    pub sha256: Sha256,
}

/// Parameters of `file.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListFiles {
    /// The root.
    pub root_id: RootId,
    /// Path of the directory.
    pub path: RelayPath,
    /// Include the contents of subdirectories.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
    /// Maximum depth below the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Include names that start with a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_hidden: Option<bool>,
    /// Maximum number of entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// `next_page` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// Entries of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectoryListing {
    /// The entries.
    pub entries: Vec<ListedFile>,
    /// Token for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_page: Option<String>,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedFile {
    /// Name of the entry. In a recursive listing, its path relative to the listed directory.
    pub name: String,
    /// Kind of entry.
    pub kind: EntryKind,
    /// Size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Modification time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
}

/// Kind of directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// Anything else, such as a socket.
    #[serde(other)]
    Other,
}

/// Parameters of `file.stat`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatFile {
    /// The root.
    pub root_id: RootId,
    /// Path of the file or directory.
    pub path: RelayPath,
}

/// Metadata of a file or directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileStat {
    /// Kind of entry; symbolic links are not followed.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Modification time.
    pub mtime: Timestamp,
    /// Unix permission bits.
    pub mode: u32,
    /// Whether the path is a file, following symbolic links.
    pub is_file: bool,
    /// Whether the path is a directory, following symbolic links.
    pub is_dir: bool,
    /// Identifies the file or directory, following symbolic links: equal for all paths and roots that lead to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
}

/// Parameters of `file.mkdir`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MakeDirectory {
    /// The root.
    pub root_id: RootId,
    /// Path of the directory.
    pub path: RelayPath,
    /// Create missing parent directories, and accept that the directory exists already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parents: bool,
}

/// Result of `file.mkdir`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MakeDirectoryResult {
    /// Whether the directory was created; `false` if it existed already.
    pub created: bool,
}

/// Parameters of `file.delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeleteFile {
    /// The root.
    pub root_id: RootId,
    /// Path of the file or directory. The root itself cannot be deleted.
    pub path: RelayPath,
    /// Delete a directory with everything in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
}

/// Result of `file.delete`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeleteFileResult {
    /// Whether there was anything to delete.
    pub deleted: bool,
}
