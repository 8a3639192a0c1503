//! Reading a tar stream, entry by entry, in constant memory and without believing it.
//!
//! The fields of a header come from the `tar` crate. The walk is ours: its extension records (long names, pax) are
//! bounded here, and an archive without its end mark is cut, not finished.

mod pax;

use std::io::{self, Read};

use tar::{EntryType, Header};

use crate::unpack::Error;

const BLOCK_BYTES: usize = 512;

/// The most a long name or a set of pax records may take. Names are at most [`PATH_BYTES_MAX`](crate::PATH_BYTES_MAX);
/// the rest is for the attributes some writers add, which are read over.
const EXTENSION_BYTES_MAX: u64 = 64 * 1024;

/// A tar stream.
pub(crate) struct Archive<R> {
    reader: R,
    /// Content of the current entry not read yet.
    content: u64,
    /// Zeros that fill the current entry's last block.
    padding: u64,
    /// How many more bytes of content, headers and extension records it may hold.
    budget: u64,
    bytes_max: u64,
}

/// One member of an archive, with what its extension records say applied. Nothing in it is checked yet.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) kind: EntryType,
    pub(crate) name: Vec<u8>,
    pub(crate) link: Vec<u8>,
    pub(crate) mode: u32,
    /// Seconds since 1970.
    pub(crate) modified: Option<i64>,
}

/// What extension records say about the member behind them.
#[derive(Debug, Default)]
struct Extensions {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    pax: pax::Records,
}

impl<R: Read> Archive<R> {
    pub(crate) fn new(reader: R, bytes_max: u64) -> Self {
        Self { reader, content: 0, padding: 0, budget: bytes_max, bytes_max }
    }

    /// The next member, past what is left of the current one; nothing behind the end mark.
    pub(crate) fn next(&mut self) -> Result<Option<Member>, Error> {
        self.skip_rest()?;
        let mut extensions = Extensions::default();
        let Some(header) = self.header()? else { return Ok(None) };
        if !self.extend(&header, &mut extensions)? {
            return self.member(&header, extensions).map(Some);
        }
        Ok(Some(self.extended(extensions)?))
    }

    /// Reads content of the current member; 0 at its end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let most = usize::try_from(self.content).map_or(buffer.len(), |content| content.min(buffer.len()));
        if most == 0 {
            return Ok(0);
        }
        let count = read_some(&mut self.reader, &mut buffer[..most])?;
        self.content -= count as u64;
        Ok(count)
    }

    /// Gives the stream back, for what may follow the end mark.
    pub(crate) fn into_inner(self) -> R {
        self.reader
    }

    fn extended(&mut self, mut extensions: Extensions) -> Result<Member, Error> {
        loop {
            let Some(header) = self.header()? else {
                return Err(Error::Corrupt("it ends after an extension record"));
            };
            if !self.extend(&header, &mut extensions)? {
                return self.member(&header, extensions);
            }
        }
    }

    /// One header block; nothing for the zeros that mark the end.
    fn header(&mut self) -> Result<Option<Header>, Error> {
        let mut header = Header::new_old();
        fill(&mut self.reader, header.as_mut_bytes())?;
        if header.as_bytes().iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        self.spend(BLOCK_BYTES as u64)?;
        let stated = header.cksum().map_err(|_| Error::Corrupt("a header's checksum is not a number"))?;
        // The checksum is taken with its own eight bytes read as spaces.
        let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
        let bytes = header.as_bytes();
        if sum(&bytes[..148]) + 8 * u32::from(b' ') + sum(&bytes[156..]) != stated {
            return Err(Error::Corrupt("a header's checksum does not match"));
        }
        Ok(Some(header))
    }

    /// Takes in an extension record; `false` when the header is a member's own.
    fn extend(&mut self, header: &Header, extensions: &mut Extensions) -> Result<bool, Error> {
        match header.entry_type() {
            EntryType::GNULongName => extensions.name = Some(self.extension_text(header)?),
            EntryType::GNULongLink => extensions.link = Some(self.extension_text(header)?),
            EntryType::XHeader => {
                let records = self.extension(header)?;
                extensions.pax.take(&records).map_err(Error::Corrupt)?;
            }
            // Comments and defaults for all members, such as the commit `git archive` names: nothing of it is used.
            EntryType::XGlobalHeader => drop(self.extension(header)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn extension_text(&mut self, header: &Header) -> Result<Vec<u8>, Error> {
        let mut text = self.extension(header)?;
        if text.last() == Some(&0) {
            text.pop();
        }
        Ok(text)
    }

    fn extension(&mut self, header: &Header) -> Result<Vec<u8>, Error> {
        let size = size_of(header)?;
        if size > EXTENSION_BYTES_MAX {
            return Err(Error::Corrupt("an extension record is too long"));
        }
        self.spend(size)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        fill(&mut self.reader, &mut bytes)?;
        self.padding = padding(size);
        self.skip_rest()?;
        Ok(bytes)
    }

    fn member(&mut self, header: &Header, extensions: Extensions) -> Result<Member, Error> {
        let Extensions { name, link, pax } = extensions;
        let kind = header.entry_type();
        let stated = pax.size.map_or_else(|| size_of(header), Ok)?;
        // Some writers state the size of what a link points to, though nothing of it follows.
        let bare = matches!(
            kind,
            EntryType::Link
                | EntryType::Symlink
                | EntryType::Directory
                | EntryType::Fifo
                | EntryType::Char
                | EntryType::Block
        );
        let size = if bare { 0 } else { stated };
        self.spend(size)?;
        (self.content, self.padding) = (size, padding(size));
        Ok(Member {
            kind: if pax.sparse { EntryType::GNUSparse } else { kind },
            name: pax.path.or(name).unwrap_or_else(|| header.path_bytes().into_owned()),
            link: pax
                .link
                .or(link)
                .unwrap_or_else(|| header.link_name_bytes().unwrap_or_default().into_owned()),
            mode: header.mode().map_err(|_| Error::Corrupt("a header's mode is not a number"))?,
            modified: pax.modified.or_else(|| header.mtime().ok().and_then(|time| i64::try_from(time).ok())),
        })
    }

    /// Accounts for what a header states, before a byte of it is read.
    fn spend(&mut self, bytes: u64) -> Result<(), Error> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Error::TooLarge { most: self.bytes_max })?;
        Ok(())
    }

    fn skip_rest(&mut self) -> Result<(), Error> {
        let rest = self.content.checked_add(self.padding).ok_or(Error::Corrupt("a size is out of range"))?;
        (self.content, self.padding) = (0, 0);
        match io::copy(&mut (&mut self.reader).take(rest), &mut io::sink()).map_err(Error::from_read)? {
            skipped if skipped == rest => Ok(()),
            _ => Err(Error::Truncated),
        }
    }
}

fn size_of(header: &Header) -> Result<u64, Error> {
    header.entry_size().map_err(|_| Error::Corrupt("a header's size is not a number"))
}

fn padding(size: u64) -> u64 {
    let block = BLOCK_BYTES as u64;
    (block - size % block) % block
}

fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> Result<(), Error> {
    reader.read_exact(buffer).map_err(Error::from_read)
}

fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Error> {
    loop {
        match reader.read(buffer) {
            Ok(0) => return Err(Error::Truncated),
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::from_read(error)),
        }
    }
}
