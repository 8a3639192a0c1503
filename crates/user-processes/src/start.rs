//! What a user asks for, made into what can be started.

use std::path::{Path, PathBuf};

use process::{Control, Outputs, Screen, Size, Spec, Stdin};
use protocol::processes::{StartProcessRequest, TerminalSize};

use crate::{Config, Error, InvalidStart};

/// A process that was started and has no owner yet.
pub(crate) struct Started {
    pub(crate) stdin: Stdin,
    pub(crate) outputs: Outputs,
    pub(crate) control: Control,
    pub(crate) terminal: Option<(Screen, TerminalSize)>,
}

/// Says how the process is to be started.
pub(crate) async fn spec(start: &StartProcessRequest, config: &Config) -> Result<Spec, InvalidStart> {
    if start.command.is_empty() || start.command.contains('\0') {
        return Err(InvalidStart::Command);
    }
    if let Some(index) = start.args.iter().position(|arg| arg.contains('\0')) {
        return Err(InvalidStart::Arg(index));
    }
    if start.terminal.is_some_and(|size| size.columns == 0 || size.rows == 0) {
        return Err(InvalidStart::Size);
    }
    let cwd = cwd(start.cwd.as_deref(), &config.current_dir).await?;
    let mut spec = Spec::new(&start.command).args(&start.args).cwd(cwd).grace(config.grace);
    spec.env_remove = config.env_remove.clone();
    for (name, value) in &start.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(InvalidStart::Env(name.clone()));
        }
        spec = spec.env(name, value);
    }
    Ok(spec)
}

async fn cwd(asked: Option<&str>, default: &Path) -> Result<PathBuf, InvalidStart> {
    let Some(asked) = asked else { return Ok(default.to_path_buf()) };
    let path = Path::new(asked);
    let is_directory = tokio::fs::metadata(path).await.is_ok_and(|metadata| metadata.is_dir());
    if !path.is_absolute() || !is_directory {
        return Err(InvalidStart::Cwd(asked.to_owned()));
    }
    Ok(path.to_path_buf())
}

/// Starts it on pipes, or on a terminal of the given size.
pub(crate) async fn spawn(spec: &Spec, terminal: Option<TerminalSize>) -> Result<Started, Error> {
    let Some(size) = terminal else {
        let raw = process::spawn_raw(spec).await.map_err(Error::Start)?;
        return Ok(Started { stdin: raw.stdin, outputs: raw.outputs, control: raw.control, terminal: None });
    };
    let screen = Size { cols: size.columns, rows: size.rows };
    let pty = process::spawn_pty(spec, screen).await.map_err(Error::Start)?;
    let terminal = Some((pty.screen, size));
    Ok(Started { stdin: pty.stdin, outputs: pty.outputs, control: pty.control, terminal })
}
