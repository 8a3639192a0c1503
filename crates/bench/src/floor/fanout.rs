//! Fan-out with nothing in between: what the pipe gives is copied to every socket.

use std::{
    io::{self, Read, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    server::{message, tie},
    stub::Flood,
};

/// What one read of the pipe takes at most.
const READ_BYTES: usize = 64 << 10;

pub(super) fn serve(
    listener: &TcpListener,
    stub: &Path,
    readers: usize,
    count: u64,
    bytes: usize,
) -> io::Result<()> {
    let mut sockets = Vec::with_capacity(readers);
    for _ in 0..readers {
        sockets.push(listener.accept()?.0);
    }
    // The first byte of the last connection starts it, so that the clock and the flood begin together.
    if let Some(socket) = sockets.last_mut() {
        socket.read_exact(&mut [0])?;
    }
    let mut command = Command::new(stub);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    tie(&mut command);
    let mut child = command.spawn()?;
    let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let flood = Flood { from: 0, count, bytes, per_second: 0 };
    input.write_all((message(1, "bench/flood", &flood.params()) + "\n").as_bytes())?;
    drop(input);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let read = output.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        for socket in &mut sockets {
            socket.write_all(&buffer[..read])?;
        }
    }
    child.wait()?;
    // Stays until the readers have gone, so that its CPU can be asked for.
    for mut socket in sockets {
        let _ = socket.read(&mut [0]);
    }
    Ok(())
}
