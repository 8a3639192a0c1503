//! A stream that may be compressed: its first two bytes tell.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::Error;

/// What may follow the archive's end mark in a gzip: tar fills up to its blocking factor, seldom more than 10 KiB.
const FILLING_MAX: u64 = 1 << 20;

type Sniffed<R> = io::Chain<Cursor<Vec<u8>>, R>;

pub(super) enum Reader<R: Read> {
    Plain(Sniffed<R>),
    Gzip(Box<MultiGzDecoder<Sniffed<R>>>),
}

impl<R: Read> Reader<R> {
    pub(super) fn new(mut reader: R) -> Result<Self, Error> {
        let mut magic = Vec::with_capacity(2);
        reader.by_ref().take(2).read_to_end(&mut magic).map_err(Error::from_read)?;
        let gzip = magic == [0x1f, 0x8b];
        let whole = Cursor::new(magic).chain(reader);
        Ok(if gzip { Self::Gzip(Box::new(MultiGzDecoder::new(whole))) } else { Self::Plain(whole) })
    }

    /// Reads a gzip to its end, where its checksum is: until then its content is only claimed.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self::Gzip(reader) = self else { return Ok(()) };
        let filling =
            io::copy(&mut reader.take(FILLING_MAX + 1), &mut io::sink()).map_err(Error::from_read)?;
        if filling > FILLING_MAX {
            return Err(Error::Corrupt("it goes on after its end mark"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(buffer),
            Self::Gzip(reader) => reader.read(buffer),
        }
    }
}
