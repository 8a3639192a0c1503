//! `tombolo api processes terminal`: the terminal of a process, on this one.

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
    exit::{Failure, Outcome, local},
    output::Output,
};

/// How much is typed at once.
const TYPED_BYTES_MAX: usize = 4096;

/// Ctrl-]: leaves a terminal, as in telnet.
const DETACH: u8 = 0x1d;

/// Ctrl-D: what a terminal takes for the end of the input.
const END_OF_INPUT: &[u8] = b"\x04";

/// Joins the two terminals until the process ends or the user leaves.
pub(super) async fn join(mut shown: TerminalOutput, mut typed: TerminalInput, output: Output) -> Outcome {
    let attached = io::stdin().is_terminal();
    if attached {
        output.talk("attached; Ctrl-] leaves, and the process goes on");
    }
    let raw = Raw::enter().map_err(|error| local("change the terminal", error))?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut terminated = signal(SignalKind::terminate())?;
    send_size(&mut typed).await?;
    let mut stdin = tokio::io::stdin();
    let mut piece = vec![0; TYPED_BYTES_MAX];
    let mut more = true;
    let ended = loop {
        tokio::select! {
            frame = shown.next() => match frame? {
                Some(TerminalFrame::Output(bytes)) => show(&bytes)?,
                Some(TerminalFrame::Event(TerminalEvent::Attached { .. })) => {}
                Some(TerminalFrame::Event(TerminalEvent::Gap { .. })) => show(b"[output is missing here]\r\n")?,
                Some(TerminalFrame::Event(TerminalEvent::Exited { code, signal, .. })) => {
                    break Some(super::ending(code, signal));
                }
                None => break None,
            },
            read = stdin.read(&mut piece), if more => {
                let bytes = &piece[..read.map_err(|error| local("read standard input", error))?];
                let leave = if attached { bytes.iter().position(|byte| *byte == DETACH) } else { None };
                more = !bytes.is_empty() && leave.is_none();
                let bytes = match (bytes, leave) {
                    ([], _) => END_OF_INPUT,
                    (bytes, Some(at)) => &bytes[..at],
                    (bytes, None) => bytes,
                };
                typed.send(Bytes::copy_from_slice(bytes)).await?;
                if leave.is_some() {
                    break Some("left; the process goes on".into());
                }
            }
            _ = resized.recv() => send_size(&mut typed).await?,
            _ = terminated.recv() => break None,
        }
    };
    // It may be gone already.
    let _ = typed.close().await;
    if raw.is_some() {
        // The process left its last line open, or we left it in the middle of one.
        show(b"\r\n")?;
    }
    drop(raw);
    output.done(&ended.unwrap_or_else(|| "the connection was closed".into()))
}

fn show(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

/// Gives the process's terminal the size of this one, if this is one.
async fn send_size(typed: &mut TerminalInput) -> Result<(), Failure> {
    let Ok(size) = termios::tcgetwinsize(io::stdin()) else { return Ok(()) };
    if size.ws_col == 0 || size.ws_row == 0 {
        return Ok(());
    }
    Ok(typed.resize(TerminalSize { columns: size.ws_col, rows: size.ws_row }).await?)
}

/// This terminal while every key goes to the process; dropped, it is as it was.
struct Raw(Termios);

impl Raw {
    /// `None` if standard input is no terminal.
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

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
