//! Unpacking an archive: all of it or nothing.
//!
//! The archive is first unpacked into a hidden directory inside the destination, thus on its filesystem, and moved into
//! place when the last byte was good. What it replaces is kept aside until all is in place, and put back if a move
//! fails.

mod error;
mod gzip;
mod merge;
mod name;
mod stage;

use std::io::Read;

use tar::EntryType;

pub use error::{Error, Refusal};

use crate::{
    CHUNK_BYTES, ENTRIES_MAX, Root, VirtualPath,
    archive::{Archive, Member},
    error::At,
    root::DIRECTORY,
};
use error::Fault;
use name::Name;
use stage::Stage;

/// How much an archive may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Members, directories included; never more than [`ENTRIES_MAX`].
    pub entries: usize,
    /// Content and headers together, uncompressed: what a small gzip could blow up to.
    pub bytes: u64,
}

impl Default for Limits {
    /// [`ENTRIES_MAX`] members and 16 GiB: a large source tree with its build output.
    fn default() -> Self {
        Self { entries: ENTRIES_MAX, bytes: 16 << 30 }
    }
}

/// What came out of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unpacked {
    /// Files and links.
    pub files: u64,
    /// Directories the archive names itself.
    pub directories: u64,
    /// Content of the files.
    pub bytes: u64,
}

impl Root {
    /// Unpacks a tar archive (ustar, GNU or pax; plain or gzip) into the directory `dest`, which is made when it is
    /// missing. Directories are merged; files and links take the place of files and links of the same name.
    ///
    /// Permission bits (`0o777`) and times of files are kept, owners are not; directories stay usable by their owner.
    /// Directories that were there keep their own bits. The stream is read to the archive's end mark (a gzip to its
    /// own end), not to its last byte.
    ///
    /// # Errors
    /// After any error but [`Error::NotUndone`] the destination is as it was. Names and links that lead out of it,
    /// devices and pipes, and a file where a directory is (or the reverse) are [`Error::Refused`]; an archive without
    /// an end mark is [`Error::Truncated`].
    pub fn unpack(&self, reader: impl Read, dest: &VirtualPath, limits: &Limits) -> Result<Unpacked, Error> {
        let absolute = self.absolute(dest);
        let made = self.mkdir_all(&absolute).at("unpack into", dest)?;
        let result = self.unpack_into(reader, dest, &absolute, limits);
        if result.is_err() {
            self.unmake(&made);
        }
        result
    }

    fn unpack_into(
        &self,
        reader: impl Read,
        dest: &VirtualPath,
        absolute: &VirtualPath,
        limits: &Limits,
    ) -> Result<Unpacked, Error> {
        let handle = self.open_at(absolute, DIRECTORY).at("unpack into", dest)?;
        let stage = Stage::new(handle, dest)?;
        let mut unpacking = Unpacking { stage, done: Unpacked::default(), buffer: vec![0; CHUNK_BYTES] };
        let mut archive = Archive::new(gzip::Reader::new(reader)?, limits.bytes);
        unpacking.run(&mut archive, limits.entries.min(ENTRIES_MAX))?;
        archive.into_inner().finish()?;
        unpacking.stage.commit()?;
        Ok(unpacking.done)
    }
}

/// An archive on its way to the stage.
struct Unpacking<'a> {
    stage: Stage<'a>,
    done: Unpacked,
    buffer: Vec<u8>,
}

impl Unpacking<'_> {
    fn run(&mut self, archive: &mut Archive<impl Read>, most: usize) -> Result<(), Error> {
        let mut index = 0;
        while let Some(member) = archive.next()? {
            index += 1;
            if index > most {
                return Err(Error::TooManyEntries { most });
            }
            self.member(archive, &member).map_err(|fault| fault.of(&member))?;
        }
        Ok(())
    }

    fn member(&mut self, archive: &mut Archive<impl Read>, member: &Member) -> Result<(), Fault> {
        let name = Name::parse(&member.name)?;
        // Old archives mark a directory by a slash alone.
        let slash = member.kind == EntryType::Regular && member.name.ends_with(b"/");
        if slash || member.kind == EntryType::Directory {
            self.done.directories += 1;
            return self.stage.directory(&name, member.mode);
        }
        match member.kind {
            EntryType::Regular | EntryType::Continuous => {
                let file = self.stage.file(&name)?;
                self.content(archive, file, member)?;
            }
            EntryType::Symlink => self.stage.symlink(&name, &member.link)?,
            EntryType::Link => self.stage.hard_link(&name, &Name::parse(&member.link)?)?,
            EntryType::Fifo | EntryType::Char | EntryType::Block => return Err(Refusal::SpecialFile.into()),
            _ => return Err(Refusal::UnsupportedKind.into()),
        }
        self.done.files += 1;
        Ok(())
    }

    fn content(
        &mut self,
        archive: &mut Archive<impl Read>,
        mut file: stage::NewFile,
        member: &Member,
    ) -> Result<(), Fault> {
        loop {
            match archive.read(&mut self.buffer).map_err(Fault::Other)? {
                0 => break,
                count => {
                    file.write(&self.buffer[..count])?;
                    self.done.bytes += count as u64;
                }
            }
        }
        file.finish(member.mode, member.modified)
    }
}
