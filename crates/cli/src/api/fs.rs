//! `tombolo api fs`.

mod archive;
mod download;

use std::path::PathBuf;

use clap::Subcommand;
use client::{Client, EntryPageOptions, Upload};
use protocol::fs::{
    ArchiveUnpacked, DirectoryEntryList, FileKind, FileMetadata, FileWritten, MoveFileRequest,
};

use super::{input, operations::mirrors};
use crate::{
    exit::{CommandError, CommandResult},
    output::{CommandOutput, card, or_dash, table, time, yes_no},
    progress,
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum FsCommand {
    /// List a directory
    #[command(
        after_help = "Examples:\n  tombolo api fs entries /workspace\n  tombolo api fs entries . --limit 100 --after readme.md"
    )]
    Entries {
        /// The directory; a relative path starts at the daemon's working directory
        #[arg(default_value = ".")]
        path: String,
        /// List only names after this one
        #[arg(long, value_name = "NAME")]
        after: Option<String>,
        /// List at most this many entries [default: 1000]
        #[arg(long, value_name = "ENTRIES")]
        limit: Option<u32>,
    },
    /// Print a file, or download it to a local file
    #[command(after_help = "\
With -o the local file is replaced only after the download is complete.

Examples:
  tombolo api fs read /etc/hostname
  tombolo api fs read /workspace/big.bin -o big.bin
  tombolo api fs read /workspace/log --range bytes=-1000")]
    Read {
        /// The file
        path: String,
        /// Write to this local file instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Read only this part, in the syntax of the `Range` header: `bytes=0-99`, `bytes=-100`
        #[arg(long)]
        range: Option<String>,
    },
    /// Upload a local file or standard input to a file
    #[command(after_help = "\
The file is replaced atomically: a reader sees the old or the new content, never a mixture.

Examples:
  tombolo api fs write /workspace/a.txt a.txt
  echo hello | tombolo api fs write /workspace/hello.txt")]
    Write {
        /// The file
        path: String,
        /// The local file; `-` or nothing reads standard input
        file: Option<PathBuf>,
        /// Fail if the directory does not exist, instead of creating it
        #[arg(long)]
        no_parents: bool,
    },
    /// Delete a file or a directory
    #[command(
        after_help = "Examples:\n  tombolo api fs delete /workspace/a.txt\n  tombolo api fs delete -r /workspace/target"
    )]
    Delete {
        /// The file or directory; a symbolic link is deleted itself, not its target
        path: String,
        /// Delete a directory with all its content
        #[arg(long, short)]
        recursive: bool,
    },
    /// Create a directory and its missing parents
    #[command(after_help = "Examples:\n  tombolo api fs mkdir /workspace/a/b/c")]
    Mkdir {
        /// The directory
        path: String,
    },
    /// Move or rename a file or a directory
    #[command(after_help = "Examples:\n  tombolo api fs move /workspace/a /workspace/b --overwrite")]
    Move {
        /// The file or directory
        from: String,
        /// Its new path
        to: String,
        /// Replace the target if it exists
        #[arg(long)]
        overwrite: bool,
    },
    /// Show the kind, size, mode and time of a path
    #[command(after_help = "Examples:\n  tombolo api fs stat /workspace --json")]
    Stat {
        /// The path
        path: String,
    },
    /// Upload a tar archive or a local directory and unpack it; on an error nothing is changed
    #[command(after_help = "\
Examples:
  tombolo api fs upload-batch /workspace files.tar.gz
  tombolo api fs upload-batch /workspace ./project
  git archive HEAD | tombolo api fs upload-batch /workspace")]
    UploadBatch {
        /// The directory to unpack into
        path: String,
        /// A tar archive (plain or gzip) or a directory; `-` or nothing reads an archive from standard input
        source: Option<PathBuf>,
    },
}

mirrors! { FsCommand:
    Entries = "entries" GET "/v1/fs/entries";
    Read = "read" GET "/v1/fs/file";
    Write = "write" PUT "/v1/fs/file";
    Delete = "delete" DELETE "/v1/fs/entry";
    Mkdir = "mkdir" POST "/v1/fs/mkdir";
    Move = "move" POST "/v1/fs/move";
    Stat = "stat" GET "/v1/fs/stat";
    UploadBatch = "upload-batch" POST "/v1/fs/upload-batch";
}

impl RequestCommand for FsCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let fs = client.fs();
        match self {
            FsCommand::Entries { path, after, limit } => {
                let answer = fs.entries(&path, &EntryPageOptions { after, limit }).await?;
                output.answer(&answer, |list| entries(list, output))
            }
            FsCommand::Read { path, output: file, range } => {
                let content = fs.read(&path, range.as_deref()).await?;
                match file {
                    Some(file) => download::to_file(content, &file, output).await,
                    None => download::to_stdout(content).await,
                }
            }
            FsCommand::Write { path, file, no_parents } => {
                let content = input::upload(file.as_deref()).await?;
                let (content, bar) = with_progress(content);
                let answer = fs.write(&path, !no_parents, content).await;
                bar.finish_and_clear();
                output.answer(&answer?, written)
            }
            FsCommand::Delete { path, recursive } => {
                fs.delete(&path, recursive).await?;
                output.done(&format!("deleted {path}"))
            }
            FsCommand::Mkdir { path } => output.answer(&fs.mkdir(&path).await?, |directory| {
                card([("path", directory.path), ("created", yes_no(directory.created))])
            }),
            FsCommand::Move { from, to, overwrite } => output
                .answer(&fs.rename(&MoveFileRequest { from, to, overwrite }).await?, |moved| {
                    card([("from", moved.from), ("to", moved.to)])
                }),
            FsCommand::Stat { path } => output.answer(&fs.stat(&path).await?, stat),
            FsCommand::UploadBatch { path, source } => {
                let answer = upload_batch(client, &path, source).await?;
                output.answer(&answer, unpacked)
            }
        }
    }
}

async fn upload_batch(
    client: &Client,
    path: &str,
    source: Option<PathBuf>,
) -> Result<client::ApiResponse<ArchiveUnpacked>, CommandError> {
    let directory = source.clone().filter(|source| source.is_dir());
    let Some(directory) = directory else {
        let (archive, bar) = with_progress(input::upload(source.as_deref()).await?);
        let answer = client.fs().upload_batch(path, archive).await;
        bar.finish_and_clear();
        return Ok(answer?);
    };
    let (archive, packing) = archive::pack(directory);
    let (archive, bar) = with_progress(archive);
    let answer = client.fs().upload_batch(path, archive).await;
    bar.finish_and_clear();
    // Report a packing error first: it truncated the archive, so the daemon's rejection is only its consequence.
    packing.finished().await?;
    Ok(answer?)
}

/// Adds a progress bar to an upload.
fn with_progress(upload: Upload) -> (Upload, indicatif::ProgressBar) {
    let bar = progress::bytes(upload.length());
    let shown = bar.clone();
    (upload.on_progress(move |sent| shown.set_position(sent)), bar)
}

fn entries(list: DirectoryEntryList, output: CommandOutput) -> String {
    let rows = list
        .items
        .into_iter()
        .map(|entry| [kind(entry.kind).into(), entry.size.to_string(), time(entry.modified_at), entry.name]);
    let shown = table(["KIND", "SIZE", "MODIFIED", "NAME"], rows);
    if let Some(next) = list.next_cursor {
        output.print_note(&format!("more entries follow: list them with --after {next}"));
    }
    shown
}

fn stat(stat: FileMetadata) -> String {
    card([
        ("path", stat.path),
        ("kind", kind(stat.kind).into()),
        ("size", stat.size.to_string()),
        ("mode", format!("{:04o}", stat.mode)),
        ("modified", time(stat.modified_at)),
        ("link target", or_dash(stat.symlink_target)),
        ("etag", stat.etag),
    ])
}

fn written(written: FileWritten) -> String {
    card([("path", written.path), ("bytes", written.bytes.to_string()), ("etag", written.etag)])
}

fn unpacked(unpacked: ArchiveUnpacked) -> String {
    card([
        ("path", unpacked.path),
        ("files", unpacked.files.to_string()),
        ("directories", unpacked.directories.to_string()),
        ("bytes", unpacked.bytes.to_string()),
    ])
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "link",
        FileKind::Other => "other",
    }
}
