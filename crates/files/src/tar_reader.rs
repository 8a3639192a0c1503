//! Reads a tar stream, member by member, in constant memory. The archive is untrusted.
//!
//! The `tar` crate decodes the fields of a header. The iteration is our own, because extension records (long names, pax) must
//! have a size limit, and an archive without its end mark must count as truncated.

mod pax_records;

use std::io::{self, Read};

use tar::{EntryType, Header};

use crate::unpack::Error;

const BLOCK_BYTES: usize = 512;

/// The maximum size of a long name or a set of pax records. Names have at most
/// [`PATH_BYTES_MAX`](crate::PATH_BYTES_MAX); the rest is for the attributes that some writers add and that are skipped.
const EXTENSION_BYTES_MAX: u64 = 64 * 1024;

/// A tar stream.
pub(crate) struct TarReader<R> {
    reader: R,
    /// The content of the current member that is not read yet.
    content_left: u64,
    /// The zeros that fill the last block of the current member.
    padding_left: u64,
    /// The bytes of content, headers and extension records that the archive may still contain.
    budget: u64,
    bytes_max: u64,
}

/// One member of an archive, with its extension records applied. Nothing of it is validated yet.
#[derive(Debug)]
pub(crate) struct TarMember {
    pub(crate) kind: EntryType,
    pub(crate) name: Vec<u8>,
    pub(crate) link: Vec<u8>,
    pub(crate) mode: u32,
    /// Seconds since 1970.
    pub(crate) modified: Option<i64>,
}

/// The values of extension records, which apply to the following member.
#[derive(Debug, Default)]
struct TarExtensions {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    pax: pax_records::PaxRecords,
}

impl<R: Read> TarReader<R> {
    pub(crate) fn new(reader: R, bytes_max: u64) -> Self {
        Self { reader, content_left: 0, padding_left: 0, budget: bytes_max, bytes_max }
    }

    /// The next member, after skipping the rest of the current one; `None` at the end mark.
    pub(crate) fn next(&mut self) -> Result<Option<TarMember>, Error> {
        self.skip_rest()?;
        let mut extensions = TarExtensions::default();
        let Some(header) = self.read_header()? else { return Ok(None) };
        if !self.read_extension_record(&header, &mut extensions)? {
            return self.start_member(&header, extensions).map(Some);
        }
        Ok(Some(self.next_after_extensions(extensions)?))
    }

    /// Reads content of the current member; 0 at its end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let most = usize::try_from(self.content_left).map_or(buffer.len(), |left| left.min(buffer.len()));
        if most == 0 {
            return Ok(0);
        }
        let count = read_some(&mut self.reader, &mut buffer[..most])?;
        self.content_left -= count as u64;
        Ok(count)
    }

    /// Returns the stream, to read what follows the end mark.
    pub(crate) fn into_inner(self) -> R {
        self.reader
    }

    fn next_after_extensions(&mut self, mut extensions: TarExtensions) -> Result<TarMember, Error> {
        loop {
            let Some(header) = self.read_header()? else {
                return Err(Error::Corrupt("it ends after an extension record"));
            };
            if !self.read_extension_record(&header, &mut extensions)? {
                return self.start_member(&header, extensions);
            }
        }
    }

    /// Reads one header block; `None` for the zeros that mark the end.
    fn read_header(&mut self) -> Result<Option<Header>, Error> {
        let mut header = Header::new_old();
        read_exact(&mut self.reader, header.as_mut_bytes())?;
        if header.as_bytes().iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        self.spend(BLOCK_BYTES as u64)?;
        let stated = header.cksum().map_err(|_| Error::Corrupt("a header's checksum is not a number"))?;
        // The checksum is computed with its own eight bytes read as spaces.
        let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
        let bytes = header.as_bytes();
        if sum(&bytes[..148]) + 8 * u32::from(b' ') + sum(&bytes[156..]) != stated {
            return Err(Error::Corrupt("a header's checksum does not match"));
        }
        Ok(Some(header))
    }

    /// Reads an extension record; `false` when the header belongs to a member.
    fn read_extension_record(
        &mut self,
        header: &Header,
        extensions: &mut TarExtensions,
    ) -> Result<bool, Error> {
        match header.entry_type() {
            EntryType::GNULongName => extensions.name = Some(self.extension_text(header)?),
            EntryType::GNULongLink => extensions.link = Some(self.extension_text(header)?),
            EntryType::XHeader => {
                let records = self.read_extension(header)?;
                extensions.pax.apply(&records).map_err(Error::Corrupt)?;
            }
            // Comments and defaults for all members, such as the commit of `git archive`: not needed.
            EntryType::XGlobalHeader => drop(self.read_extension(header)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn extension_text(&mut self, header: &Header) -> Result<Vec<u8>, Error> {
        let mut text = self.read_extension(header)?;
        if text.last() == Some(&0) {
            text.pop();
        }
        Ok(text)
    }

    fn read_extension(&mut self, header: &Header) -> Result<Vec<u8>, Error> {
        let size = size_of(header)?;
        if size > EXTENSION_BYTES_MAX {
            return Err(Error::Corrupt("an extension record is too long"));
        }
        self.spend(size)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        read_exact(&mut self.reader, &mut bytes)?;
        self.padding_left = padding(size);
        self.skip_rest()?;
        Ok(bytes)
    }

    fn start_member(&mut self, header: &Header, extensions: TarExtensions) -> Result<TarMember, Error> {
        let TarExtensions { name, link, pax } = extensions;
        let kind = header.entry_type();
        let stated = pax.size.map_or_else(|| size_of(header), Ok)?;
        // Some writers state the size of a link's target although no content follows.
        let has_no_content = matches!(
            kind,
            EntryType::Link
                | EntryType::Symlink
                | EntryType::Directory
                | EntryType::Fifo
                | EntryType::Char
                | EntryType::Block
        );
        let size = if has_no_content { 0 } else { stated };
        self.spend(size)?;
        self.content_left = size;
        self.padding_left = padding(size);
        Ok(TarMember {
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

    /// Charges the stated size to the budget before any of it is read.
    fn spend(&mut self, bytes: u64) -> Result<(), Error> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Error::TooLarge { most: self.bytes_max })?;
        Ok(())
    }

    fn skip_rest(&mut self) -> Result<(), Error> {
        let rest = self
            .content_left
            .checked_add(self.padding_left)
            .ok_or(Error::Corrupt("a size is out of range"))?;
        self.content_left = 0;
        self.padding_left = 0;
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

fn read_exact(reader: &mut impl Read, buffer: &mut [u8]) -> Result<(), Error> {
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
