//! Writes a downloaded file to standard output or to a local file.

use std::{io, path::Path};

use client::Download;
use tempfile::NamedTempFile;

use crate::{
    exit::{CommandError, CommandResult, local},
    output::CommandOutput,
    progress,
};

/// Writes the content to standard output.
pub(super) async fn to_stdout(content: Download) -> CommandResult {
    let bar = progress::bytes(content.length());
    let copied = content.copy_to(&mut tokio::io::stdout(), |written| bar.set_position(written)).await;
    bar.finish_and_clear();
    copied?;
    Ok(())
}

/// Writes the content to a temporary file and renames it to `path` when it is complete.
pub(super) async fn to_file(content: Download, path: &Path, output: CommandOutput) -> CommandResult {
    let failed = |error: io::Error| local(&format!("write `{}`", path.display()), error);
    // A device or a named pipe (`/dev/stdout`) must be written to: a rename would replace it with a regular file.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let mut file = tokio::fs::OpenOptions::new().write(true).open(path).await.map_err(failed)?;
        return copy(content, &mut file, path, output).await;
    }
    // Replace the target of a symbolic link, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (file, temporary) = new_file(directory).map_err(failed)?;
    copy(content, &mut tokio::fs::File::from_std(file), path, output).await?;
    temporary.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A temporary file in `directory`, with the permissions of a newly created file (`tempfile` would use 0600).
fn new_file(directory: &Path) -> io::Result<(std::fs::File, tempfile::TempPath)> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tombolo-").permissions(std::fs::Permissions::from_mode(0o666));
    let file: NamedTempFile = builder.tempfile_in(directory)?;
    Ok(file.into_parts())
}

async fn copy(
    content: Download,
    file: &mut tokio::fs::File,
    path: &Path,
    output: CommandOutput,
) -> CommandResult {
    let bar = progress::bytes(content.length());
    let copied = content.copy_to(file, |written| bar.set_position(written)).await;
    bar.finish_and_clear();
    let written = copied.map_err(CommandError::from)?;
    output.done(&format!("wrote {written} bytes to {}", path.display()))
}
