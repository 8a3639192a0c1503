//! Validates a start request and starts the process.

use std::path::{Path, PathBuf};

use process::{OutputReader, ProcessControl, ProcessSpec, ProcessStdin, PtySize};
use protocol::processes::{StartProcessRequest, TerminalSize};

use crate::{Config, Error, InvalidStart, process_entry::TerminalState};

/// A started process without a recorder.
pub(crate) struct StartedProcess {
    pub(crate) stdin: ProcessStdin,
    pub(crate) outputs: OutputReader,
    pub(crate) control: ProcessControl,
    pub(crate) terminal: Option<TerminalState>,
}

/// Validates the request and builds the process description.
pub(crate) async fn build_spec(
    start: &StartProcessRequest,
    config: &Config,
) -> Result<ProcessSpec, InvalidStart> {
    if start.command.is_empty() || start.command.contains('\0') {
        return Err(InvalidStart::Command);
    }
    if let Some(index) = start.args.iter().position(|arg| arg.contains('\0')) {
        return Err(InvalidStart::Arg(index));
    }
    if start.terminal.is_some_and(|size| size.columns == 0 || size.rows == 0) {
        return Err(InvalidStart::Size);
    }
    let cwd = resolve_cwd(start.cwd.as_deref(), &config.current_dir).await?;
    let mut spec = ProcessSpec::new(&start.command).args(&start.args).cwd(cwd).grace(config.grace);
    spec.env_remove = config.env_remove.clone();
    for (name, value) in &start.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(InvalidStart::Env(name.clone()));
        }
        spec = spec.env(name, value);
    }
    Ok(spec)
}

async fn resolve_cwd(requested: Option<&str>, default: &Path) -> Result<PathBuf, InvalidStart> {
    let Some(requested) = requested else { return Ok(default.to_path_buf()) };
    let path = Path::new(requested);
    let is_directory = tokio::fs::metadata(path).await.is_ok_and(|metadata| metadata.is_dir());
    if !path.is_absolute() || !is_directory {
        return Err(InvalidStart::Cwd(requested.to_owned()));
    }
    Ok(path.to_path_buf())
}

/// Starts it with pipes, or on a terminal of the given size.
pub(crate) async fn spawn(
    spec: &ProcessSpec,
    terminal: Option<TerminalSize>,
) -> Result<StartedProcess, Error> {
    let Some(size) = terminal else {
        let raw = process::spawn_raw(spec).await.map_err(Error::Start)?;
        return Ok(StartedProcess {
            stdin: raw.stdin,
            outputs: raw.outputs,
            control: raw.control,
            terminal: None,
        });
    };
    let pty_size = PtySize { cols: size.columns, rows: size.rows };
    let pty = process::spawn_pty(spec, pty_size).await.map_err(Error::Start)?;
    let terminal = Some(TerminalState { resizer: pty.resizer, size });
    Ok(StartedProcess { stdin: pty.stdin, outputs: pty.outputs, control: pty.control, terminal })
}
