//! The file in which whoever runs a hub names runtimes.

use std::{fs, io, path::Path};

use protocol::{RuntimeId, WorkspaceName};
use serde::Deserialize;

use super::registered::{Entry, Way};

/// How large it may be, and a file with a token.
const BYTES_MAX: u64 = 1 << 20;

/// A runtime as the file names it. Its token has a file of its own: this one may be read by many.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Named {
    id: RuntimeId,
    #[serde(default)]
    workspace: WorkspaceName,
    endpoint: String,
    /// Beside the file, unless it says where.
    token_file: Option<String>,
}

/// What the file names.
pub(super) fn read(file: &Path) -> io::Result<Vec<Entry>> {
    let named: Vec<Named> = serde_json::from_str(&text(file)?)?;
    named.into_iter().map(|named| entry(named, file)).collect()
}

fn entry(Named { id, workspace, endpoint, token_file }: Named, file: &Path) -> io::Result<Entry> {
    let token = |name: String| {
        let path = file.parent().unwrap_or(Path::new("/")).join(name);
        let token = text(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("could not read the token of runtime `{id}`: {error}"))
        })?;
        io::Result::Ok(token.trim().to_owned())
    };
    let token = token_file.map(token).transpose()?;
    Ok(Entry::new(id, workspace, Way::Remote { endpoint, token }))
}

fn text(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.len() > BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the file is larger than {BYTES_MAX} bytes"),
        ));
    }
    fs::read_to_string(path)
}
