//! `tombolo api processes terminal`: attaches this terminal to that of a process.

use std::io::{self, IsTerminal, Write};

use bytes::Bytes;
use client::{TerminalFrame, TerminalInput, TerminalOutput};
use protocol::processes::{TerminalEvent, TerminalSize};
use rustix::termios::{self, OptionalActions, Termios};
use tokio::{
    io::AsyncReadExt,
    signal::unix::{SignalKind, signal},
};

use crate::{
    exit::{CommandError, CommandResult, local},
    output::CommandOutput,
};

/// Largest chunk that is read from standard input.
const INPUT_CHUNK_BYTES: usize = 4096;

/// Ctrl-] detaches, as in telnet.
const DETACH: u8 = 0x1d;

/// Ctrl-D: a terminal reads it as the end of the input.
const END_OF_INPUT: &[u8] = b"\x04";

/// Connects the two terminals until the process exits or the user detaches.
pub(super) async fn attach(
    mut output_stream: TerminalOutput,
    mut input_stream: TerminalInput,
    output: CommandOutput,
) -> CommandResult {
    let attached = io::stdin().is_terminal();
    if attached {
        output.print_note("attached: press Ctrl-] to detach and leave the process running");
    }
    let raw = RawMode::enter().map_err(|error| local("change the terminal", error))?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut terminated = signal(SignalKind::terminate())?;
    send_size(&mut input_stream).await?;
    let mut stdin = tokio::io::stdin();
    let mut chunk = vec![0; INPUT_CHUNK_BYTES];
    let mut stdin_open = true;
    let ended = loop {
        tokio::select! {
            frame = output_stream.next() => match frame? {
                Some(TerminalFrame::Output(bytes)) => show(&bytes)?,
                Some(TerminalFrame::Event(TerminalEvent::Attached { .. })) => {}
                Some(TerminalFrame::Event(TerminalEvent::Gap { .. })) => show(b"[gap: the daemon no longer has the output between these lines]\r\n")?,
                Some(TerminalFrame::Event(TerminalEvent::Exited { code, signal, .. })) => {
                    break Some(super::describe_exit(code, signal));
                }
                None => break None,
            },
            read = stdin.read(&mut chunk), if stdin_open => {
                let bytes = &chunk[..read.map_err(|error| local("read standard input", error))?];
                let detach_at = if attached { bytes.iter().position(|byte| *byte == DETACH) } else { None };
                stdin_open = !bytes.is_empty() && detach_at.is_none();
                let bytes = match (bytes, detach_at) {
                    ([], _) => END_OF_INPUT,
                    (bytes, Some(at)) => &bytes[..at],
                    (bytes, None) => bytes,
                };
                input_stream.send(Bytes::copy_from_slice(bytes)).await?;
                if detach_at.is_some() {
                    break Some("detached; the process is still running".into());
                }
            }
            _ = resized.recv() => send_size(&mut input_stream).await?,
            _ = terminated.recv() => break None,
        }
    };
    // The connection may already be closed.
    let _ = input_stream.close().await;
    if raw.is_some() {
        // Start a new line: the cursor may be in the middle of one.
        show(b"\r\n")?;
    }
    drop(raw);
    output.done(&ended.unwrap_or_else(|| "the connection was closed".into()))
}

fn show(bytes: &[u8]) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

/// Resizes the terminal of the process to the size of this one; does nothing without a terminal.
async fn send_size(input_stream: &mut TerminalInput) -> Result<(), CommandError> {
    let Ok(size) = termios::tcgetwinsize(io::stdin()) else { return Ok(()) };
    if size.ws_col == 0 || size.ws_row == 0 {
        return Ok(());
    }
    Ok(input_stream.resize(TerminalSize { columns: size.ws_col, rows: size.ws_row }).await?)
}

/// Keeps this terminal in raw mode, so that every key reaches the process; restores its settings when dropped.
struct RawMode(Termios);

impl RawMode {
    /// Returns `None` if standard input is not a terminal.
    fn enter() -> io::Result<Option<Self>> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        let before = termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Some(Self(before)))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
