//! A stream that may be gzip-compressed, as its first two bytes tell.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::Error;

/// The limit of what may follow the archive's end mark in a gzip stream: tar fills up to its blocking factor, rarely more
/// than 10 KiB.
const TRAILER_BYTES_MAX: u64 = 1 << 20;

type SniffedReader<R> = io::Chain<Cursor<Vec<u8>>, R>;

pub(super) enum MaybeGzip<R: Read> {
    Plain(SniffedReader<R>),
    Gzip(Box<MultiGzDecoder<SniffedReader<R>>>),
}

impl<R: Read> MaybeGzip<R> {
    pub(super) fn new(mut reader: R) -> Result<Self, Error> {
        let mut magic = Vec::with_capacity(2);
        reader.by_ref().take(2).read_to_end(&mut magic).map_err(Error::from_read)?;
        let gzip = magic == [0x1f, 0x8b];
        let whole = Cursor::new(magic).chain(reader);
        Ok(if gzip { Self::Gzip(Box::new(MultiGzDecoder::new(whole))) } else { Self::Plain(whole) })
    }

    /// Reads a gzip stream to its end. Its checksum is there: until it matches, the content is not verified.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self::Gzip(reader) = self else { return Ok(()) };
        let trailer =
            io::copy(&mut reader.take(TRAILER_BYTES_MAX + 1), &mut io::sink()).map_err(Error::from_read)?;
        if trailer > TRAILER_BYTES_MAX {
            return Err(Error::Corrupt("it continues after its end mark"));
        }
        Ok(())
    }
}

impl<R: Read> Read for MaybeGzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(buffer),
            Self::Gzip(reader) => reader.read(buffer),
        }
    }
}
