//! `file.*`: files and directories below a root.

mod change;
mod search;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use change::{Change, ChangeKind, WatchFiles, Watching};
pub use search::{Case, Match, MatchBatch, SearchFiles, Searched};

use super::{Encoding, RelayPath, RootId, Sha256};

/// Reads a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadFile {
    /// The root.
    pub root_id: RootId,
    /// The file.
    pub path: RelayPath,
    /// How its bytes are wanted.
    #[serde(default)]
    pub encoding: ReadEncoding,
    /// The first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
}

/// How the bytes of a file that is read come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReadEncoding {
    /// As they are, which are UTF-8.
    #[default]
    #[serde(rename = "utf-8", alias = "utf8")]
    Utf8,
    /// In base64, with padding.
    #[serde(rename = "base64")]
    Base64,
    /// As they are, behind the response in a binary message; where both sides know [`BINARY_READ`](super::BINARY_READ).
    #[serde(rename = "binary")]
    Binary,
}

/// Bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileContent {
    /// The bytes; empty if they come behind the response.
    pub content: String,
    /// How they are written.
    #[serde(default)]
    pub encoding: ReadEncoding,
    /// How long the whole file is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Whether these are the last bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eof: Option<bool>,
}

/// Writes a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteFile {
    /// The root.
    pub root_id: RootId,
    /// The file.
    pub path: RelayPath,
    /// The bytes.
    pub content: String,
    /// How they are written.
    #[serde(default)]
    pub encoding: Encoding,
    /// Whether they come after what is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether the file may be there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<CreateMode>,
    /// Only if the file is still like this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_match: Option<IfMatch>,
}

/// Whether a file may be there before it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreateMode {
    /// It may.
    #[default]
    Always,
    /// It must not.
    New,
    /// It must.
    Existing,
}

/// How a file was when it was last seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum IfMatch {
    /// By its bytes.
    Hash {
        /// Their hash.
        sha256: Sha256,
    },
    /// By what the file system says.
    Stamp {
        /// When it was changed.
        mtime: Timestamp,
        /// How long it was.
        size_bytes: u64,
    },
}

/// A file was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// How long it is now.
    pub size_bytes: u64,
    /// The hash of all of it.
    pub sha256: Sha256,
}

/// Lists a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListFiles {
    /// The root.
    pub root_id: RootId,
    /// The directory.
    pub path: RelayPath,
    /// Whether what is below its directories is wanted too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
    /// How far below at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Whether names with a dot in front are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_hidden: Option<bool>,
    /// How many at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The `next_page` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileList {
    /// Its entries.
    pub entries: Vec<Entry>,
    /// Where it goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_page: Option<String>,
}

/// What is in a directory, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Its name; below the directory that was asked for, its path from there.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// How long it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// When it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Dir,
    /// A link.
    Symlink,
    /// Something else.
    #[serde(other)]
    Other,
}

/// Describes what a path leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatFile {
    /// The root.
    pub root_id: RootId,
    /// The path.
    pub path: RelayPath,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileStat {
    /// What it is.
    pub kind: EntryKind,
    /// How long it is.
    pub size_bytes: u64,
    /// When it was changed.
    pub mtime: Timestamp,
    /// Its permissions, as Unix numbers them.
    pub mode: u32,
    /// Whether it is a file, also through a link.
    pub is_file: bool,
    /// Whether it is a directory, also through a link.
    pub is_dir: bool,
    /// Which file or directory it is, also through a link: the same by whichever path, in whichever root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
}

/// Makes a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MakeDir {
    /// The root.
    pub root_id: RootId,
    /// The directory.
    pub path: RelayPath,
    /// Whether those above it are made too, and it may be there before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parents: bool,
}

/// A directory is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirMade {
    /// Whether it was not there before.
    pub created: bool,
}

/// Deletes what a path leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeleteFile {
    /// The root.
    pub root_id: RootId,
    /// The path; never that of the root.
    pub path: RelayPath,
    /// Whether a directory goes with all that is in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
}

/// A path leads nowhere now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deleted {
    /// Whether it led somewhere before.
    pub deleted: bool,
}
