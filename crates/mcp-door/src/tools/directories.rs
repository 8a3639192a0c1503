//! `list_directory`, `file_info`, `make_directory`, `delete_path`, `move_path` and `copy_path`.

use std::fmt::Write;

use futures_util::{StreamExt, TryStreamExt};
use protocol::relay::file::{EntryKind, ListedFile};
use relay::{
    Environment,
    environment::{Dir, Error, FileOperator},
};
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{answer, output::ProgressReporter};

/// The number of entries in a result: as many as a model can use.
const ENTRIES_MAX: usize = 1000;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ListDirectoryArguments {
    /// The directory to list. Defaults to the first root directory of the device; `/` lists all root directories.
    #[serde(default)]
    path: Option<String>,
    /// Also list the contents of subdirectories.
    #[serde(default)]
    recursive: bool,
}

pub(super) async fn list_directory(
    environment: Environment,
    ListDirectoryArguments { path, recursive }: ListDirectoryArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    let files = environment.files();
    let path = path.as_deref().unwrap_or(".");
    let mut lines: Vec<String> = if recursive {
        let seen = files.walk(path).take(ENTRIES_MAX + 1);
        seen.map_ok(|seen| line(&ListedFile { name: seen.path.to_string(), ..seen.entry }))
            .try_collect()
            .await?
    } else {
        files.list(path).await?.iter().map(line).collect()
    };
    if lines.is_empty() {
        return Ok(answer::text("[the directory is empty]"));
    }
    let there = lines.len();
    lines.truncate(ENTRIES_MAX);
    let mut text = lines.join("\n");
    if there > ENTRIES_MAX {
        let _ = write!(text, "\n[only the first {ENTRIES_MAX} are shown]");
    }
    Ok(answer::text(text))
}

fn line(ListedFile { name, kind, size_bytes, .. }: &ListedFile) -> String {
    match (kind, size_bytes) {
        (EntryKind::Dir, _) => format!("{name}/"),
        (EntryKind::Symlink, _) => format!("{name} (link)"),
        (EntryKind::Other, _) => format!("{name} (special)"),
        (EntryKind::File, Some(size)) => format!("{name} ({size} bytes)"),
        (EntryKind::File, None) => name.clone(),
    }
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PathArguments {
    /// The path on the device.
    path: String,
}

pub(super) async fn file_info(
    environment: Environment,
    PathArguments { path }: PathArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    let stat = environment.files().stat(&path).await?;
    let kind = match stat.kind {
        EntryKind::File => "a file",
        EntryKind::Dir => "a directory",
        EntryKind::Symlink => "a link",
        EntryKind::Other => "something special",
    };
    let text = format!("{path} is {kind} of {} bytes, changed at {}", stat.size_bytes, stat.mtime);
    Ok(answer::both(text, json!(stat)))
}

pub(super) async fn make_directory(
    environment: Environment,
    PathArguments { path }: PathArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    environment.files().mkdir(&path, Dir::Whole).await?;
    Ok(answer::text(format!("made {path}")))
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct DeletePathArguments {
    /// The path on the device.
    path: String,
    /// Delete a directory together with its contents.
    #[serde(default)]
    recursive: bool,
}

pub(super) async fn delete_path(
    environment: Environment,
    DeletePathArguments { path, recursive }: DeletePathArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    environment.files().delete(&path, if recursive { Dir::Whole } else { Dir::Alone }).await?;
    Ok(answer::text(format!("deleted {path}")))
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PathPair {
    /// The source path.
    from: String,
    /// The target path.
    to: String,
}

pub(super) async fn move_path(
    environment: Environment,
    PathPair { from, to }: PathPair,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    environment.files().rename(&from, &to).await?;
    Ok(answer::text(format!("moved {from} to {to}")))
}

pub(super) async fn copy_path(
    environment: Environment,
    PathPair { from, to }: PathPair,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    environment.files().copy(&from, &to).await?;
    Ok(answer::text(format!("copied {from} to {to}")))
}
