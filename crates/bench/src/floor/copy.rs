//! The floor `loopback`: a copy from file to socket to file with blocking calls.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::TcpListener,
    path::Path,
};

/// The size of one read and write. It is large, so that the cost of system calls is small compared with the copying.
const COPY_BYTES: usize = 256 << 10;

/// Receives one file and confirms it with one byte, so that the sender measures until the last byte is written.
pub(super) fn serve(listener: &TcpListener, file: &Path) -> io::Result<()> {
    let (mut socket, _) = listener.accept()?;
    copy_all(&mut socket, &mut File::create(file)?, u64::MAX)?;
    socket.write_all(b".")
}

/// Copies up to `most` bytes and returns how many it copied.
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
