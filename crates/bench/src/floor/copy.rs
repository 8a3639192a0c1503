//! A copy through the loopback: file, socket, file, with plain blocking calls.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::TcpListener,
    path::Path,
};

/// How much is copied at once.
const COPY_BYTES: usize = 256 << 10;

/// Receives one file, and says so with a byte.
pub(super) fn serve(listener: &TcpListener, file: &Path) -> io::Result<()> {
    let (mut socket, _) = listener.accept()?;
    copy_all(&mut socket, &mut File::create(file)?, u64::MAX)?;
    socket.write_all(b".")
}

/// Copies up to `most` bytes; how many there were.
pub(crate) fn copy_all(from: &mut impl Read, to: &mut impl Write, most: u64) -> io::Result<u64> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut copied = 0;
    while copied < most {
        let wanted = (most - copied).min(COPY_BYTES as u64) as usize;
        let read = from.read(&mut buffer[..wanted])?;
        if read == 0 {
            break;
        }
        to.write_all(&buffer[..read])?;
        copied += read as u64;
    }
    Ok(copied)
}
