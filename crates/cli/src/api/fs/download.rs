//! Where the content of a file goes.

use std::{io, path::Path};

use client::Download;
use tempfile::NamedTempFile;

use crate::{
    exit::{Failure, Outcome, local},
    output::Output,
    progress,
};

/// Writes the content to standard output.
pub(super) async fn to_stdout(content: Download) -> Outcome {
    let bar = progress::bytes(content.length());
    let copied = content.copy_to(&mut tokio::io::stdout(), |written| bar.set_position(written)).await;
    bar.finish_and_clear();
    copied?;
    Ok(())
}

/// Writes the content to a local file, which appears whole or not at all.
pub(super) async fn to_file(content: Download, path: &Path, output: Output) -> Outcome {
    let failed = |error: io::Error| local(&format!("write `{}`", path.display()), error);
    // A device or a pipe is written to, not replaced.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let mut file = tokio::fs::OpenOptions::new().write(true).open(path).await.map_err(failed)?;
        return copy(content, &mut file, path, output).await;
    }
    // Behind a link is the file that is meant.
    let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = whole.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (file, temporary) = new_file(directory).map_err(failed)?;
    copy(content, &mut tokio::fs::File::from_std(file), path, output).await?;
    temporary.persist(&whole).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A file beside the one that it will become, with the rights that a new file gets.
fn new_file(directory: &Path) -> io::Result<(std::fs::File, tempfile::TempPath)> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tombolo-").permissions(std::fs::Permissions::from_mode(0o666));
    let file: NamedTempFile = builder.tempfile_in(directory)?;
    Ok(file.into_parts())
}

async fn copy(content: Download, file: &mut tokio::fs::File, path: &Path, output: Output) -> Outcome {
    let bar = progress::bytes(content.length());
    let copied = content.copy_to(file, |written| bar.set_position(written)).await;
    bar.finish_and_clear();
    let written = copied.map_err(Failure::from)?;
    output.done(&format!("{written} bytes to {}", path.display()))
}
