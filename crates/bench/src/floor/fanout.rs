//! The floor `fanout`: copies each read of the stub's pipe to every socket, without HTTP, history or cursors.

use std::{
    io::{self, Read, Write},
    net::TcpListener,
    path::Path,
};

use super::stub_process::StubProcess;
use crate::{json_rpc, stub_agent::Flood};

/// The capacity of a Linux pipe, which is the most that one read can return.
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
    // Wait for a byte on the last connection: the load generator sends it when it starts its clock.
    if let Some(socket) = sockets.last_mut() {
        socket.read_exact(&mut [0])?;
    }
    let StubProcess { mut child, mut input, mut output } = StubProcess::start(stub)?;
    let flood = Flood { from: 0, count, bytes, per_second: 0 };
    input.write_all((json_rpc::request(1, "bench/flood", &flood.params()) + "\n").as_bytes())?;
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
    // Stay alive until the readers disconnect: the load generator reads the CPU time of this process before it does
    // so.
    for mut socket in sockets {
        let _ = socket.read(&mut [0]);
    }
    Ok(())
}
