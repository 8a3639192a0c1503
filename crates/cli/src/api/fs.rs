//! `tombolo api fs`.

mod archive;
mod download;

use std::path::PathBuf;

use clap::Subcommand;
use client::{Client, Page, Upload};
use protocol::fs::{EntryList, Kind, Move, Stat, Unpacked, Written};

use super::{
    input,
    operations::{Operation, mirrors},
};
use crate::{
    exit::{Failure, Outcome},
    output::{Output, card, or_dash, table, time, yes_no},
    progress,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List a directory
    #[command(
        after_help = "Examples:\n  tombolo api fs entries /workspace\n  tombolo api fs entries . --limit 100 --after readme.md"
    )]
    Entries {
        /// The directory; a relative path starts where the daemon does
        #[arg(default_value = ".")]
        path: String,
        /// Only names after this one
        #[arg(long, value_name = "NAME")]
        after: Option<String>,
        /// How many entries at most; 1000 if left out
        #[arg(long, value_name = "ENTRIES")]
        limit: Option<u32>,
    },
    /// Print a file, or write it to a local one
    #[command(after_help = "\
A local file appears whole or not at all.

Examples:
  tombolo api fs read /etc/hostname
  tombolo api fs read /workspace/big.bin -o big.bin
  tombolo api fs read /workspace/log --range bytes=-1000")]
    Read {
        /// The file
        path: String,
        /// The local file to write
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Only this part, as in the header `Range`: `bytes=0-99`, `bytes=-100`
        #[arg(long)]
        range: Option<String>,
    },
    /// Write a file from a local one or from standard input
    #[command(after_help = "\
Readers see the old content or the new, never a part.

Examples:
  tombolo api fs write /workspace/a.txt a.txt
  echo hello | tombolo api fs write /workspace/hello.txt")]
    Write {
        /// The file
        path: String,
        /// The local file; `-` or nothing for standard input
        file: Option<PathBuf>,
        /// Refuse if the directory is not there, instead of making it
        #[arg(long)]
        no_parents: bool,
    },
    /// Remove a file or a directory
    #[command(
        after_help = "Examples:\n  tombolo api fs delete /workspace/a.txt\n  tombolo api fs delete -r /workspace/target"
    )]
    Delete {
        /// What to remove; a link is removed itself
        path: String,
        /// Remove a directory with everything in it
        #[arg(long, short)]
        recursive: bool,
    },
    /// Make a directory, and those missing on the way
    #[command(after_help = "Examples:\n  tombolo api fs mkdir /workspace/a/b/c")]
    Mkdir {
        /// The directory
        path: String,
    },
    /// Move or rename a file or a directory
    #[command(after_help = "Examples:\n  tombolo api fs move /workspace/a /workspace/b --overwrite")]
    Move {
        /// What to move
        from: String,
        /// Its new path
        to: String,
        /// Replace what is there
        #[arg(long)]
        overwrite: bool,
    },
    /// Say what a path leads to
    #[command(after_help = "Examples:\n  tombolo api fs stat /workspace --json")]
    Stat {
        /// The path
        path: String,
    },
    /// Unpack a local tar archive or directory into a directory: all of it or nothing
    #[command(after_help = "\
Examples:
  tombolo api fs upload-batch /workspace files.tar.gz
  tombolo api fs upload-batch /workspace ./project
  git archive HEAD | tombolo api fs upload-batch /workspace")]
    UploadBatch {
        /// The directory to unpack into
        path: String,
        /// A tar archive, plain or gzip, or a directory; `-` or nothing for an archive on standard input
        source: Option<PathBuf>,
    },
}

mirrors! { Verb:
    Entries = "entries" GET "/v1/fs/entries";
    Read = "read" GET "/v1/fs/file";
    Write = "write" PUT "/v1/fs/file";
    Delete = "delete" DELETE "/v1/fs/entry";
    Mkdir = "mkdir" POST "/v1/fs/mkdir";
    Move = "move" POST "/v1/fs/move";
    Stat = "stat" GET "/v1/fs/stat";
    UploadBatch = "upload-batch" POST "/v1/fs/upload-batch";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        let fs = client.fs();
        match self {
            Verb::Entries { path, after, limit } => {
                let answer = fs.entries(&path, &Page { after, limit }).await?;
                output.answer(&answer, |list| entries(list, output))
            }
            Verb::Read { path, output: file, range } => {
                let content = fs.read(&path, range.as_deref()).await?;
                match file {
                    Some(file) => download::to_file(content, &file, output).await,
                    None => download::to_stdout(content).await,
                }
            }
            Verb::Write { path, file, no_parents } => {
                let content = input::upload(file.as_deref()).await?;
                let (content, bar) = watched(content);
                let answer = fs.write(&path, !no_parents, content).await;
                bar.finish_and_clear();
                output.answer(&answer?, written)
            }
            Verb::Delete { path, recursive } => {
                fs.delete(&path, recursive).await?;
                output.done(&format!("{path} is gone"))
            }
            Verb::Mkdir { path } => output.answer(&fs.mkdir(&path).await?, |made| {
                card([("path", made.path), ("created", yes_no(made.created))])
            }),
            Verb::Move { from, to, overwrite } => output
                .answer(&fs.rename(&Move { from, to, overwrite }).await?, |moved| {
                    card([("from", moved.from), ("to", moved.to)])
                }),
            Verb::Stat { path } => output.answer(&fs.stat(&path).await?, stat),
            Verb::UploadBatch { path, source } => {
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
) -> Result<client::Answer<Unpacked>, Failure> {
    let directory = source.clone().filter(|source| source.is_dir());
    let Some(directory) = directory else {
        let (archive, bar) = watched(input::upload(source.as_deref()).await?);
        let answer = client.fs().upload_batch(path, archive).await;
        bar.finish_and_clear();
        return Ok(answer?);
    };
    let (archive, packing) = archive::of(directory);
    let (archive, bar) = watched(archive);
    let answer = client.fs().upload_batch(path, archive).await;
    bar.finish_and_clear();
    // Packing that failed cut the archive short; the refusal of the rest is only what came of it.
    packing.finished().await?;
    Ok(answer?)
}

/// The upload with a bar that shows how far it is.
fn watched(upload: Upload) -> (Upload, indicatif::ProgressBar) {
    let bar = progress::bytes(upload.length());
    let shown = bar.clone();
    (upload.on_progress(move |sent| shown.set_position(sent)), bar)
}

fn entries(list: EntryList, output: Output) -> String {
    let rows = list
        .items
        .into_iter()
        .map(|entry| [kind(entry.kind).into(), entry.size.to_string(), time(entry.modified_at), entry.name]);
    let shown = table(["KIND", "SIZE", "MODIFIED", "NAME"], rows);
    if let Some(next) = list.next_cursor {
        output.talk(&format!("there is more: --after {next}"));
    }
    shown
}

fn stat(stat: Stat) -> String {
    card([
        ("path", stat.path),
        ("kind", kind(stat.kind).into()),
        ("size", stat.size.to_string()),
        ("mode", format!("{:04o}", stat.mode)),
        ("modified", time(stat.modified_at)),
        ("links to", or_dash(stat.symlink_target)),
        ("etag", stat.etag),
    ])
}

fn written(written: Written) -> String {
    card([("path", written.path), ("bytes", written.bytes.to_string()), ("etag", written.etag)])
}

fn unpacked(unpacked: Unpacked) -> String {
    card([
        ("path", unpacked.path),
        ("files", unpacked.files.to_string()),
        ("directories", unpacked.directories.to_string()),
        ("bytes", unpacked.bytes.to_string()),
    ])
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink => "link",
        Kind::Other => "other",
    }
}
