//! Unpacks an archive completely or not at all.
//!
//! The archive is first unpacked into a hidden directory inside the destination, and so on the same filesystem. When its last
//! byte has been verified, its content is moved into place. Replaced files are set aside until everything is in place, and
//! restored if a move fails.

mod error;
mod maybe_gzip;
mod member_name;
mod stage_merge;
mod staging_directory;

use std::io::Read;

use tar::EntryType;

pub use error::{Error, MemberRefusal};

use crate::{
    CHUNK_BYTES, ENTRIES_MAX, FileOperation, RootDirectory, RootedPath,
    error::ErrorContext,
    root_directory::DIRECTORY,
    tar_reader::{TarMember, TarReader},
};
use error::MemberError;
use member_name::MemberName;
use staging_directory::StagingDirectory;

/// Limits on the content of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnpackLimits {
    /// The maximum number of members including directories; at most [`ENTRIES_MAX`].
    pub entries: usize,
    /// The maximum uncompressed size of content and headers, against small archives that expand to huge ones.
    pub bytes: u64,
}

impl Default for UnpackLimits {
    /// [`ENTRIES_MAX`] members and 16 GiB: a large source tree with its build output.
    fn default() -> Self {
        Self { entries: ENTRIES_MAX, bytes: 16 << 30 }
    }
}

/// The amount that was unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnpackSummary {
    /// Files and links.
    pub files: u64,
    /// Directories that are members of the archive.
    pub directories: u64,
    /// The size of the files' content.
    pub bytes: u64,
}

impl RootDirectory {
    /// Unpacks a tar archive (ustar, GNU or pax; plain or gzip) into the directory `dest`, which is created if necessary.
    /// Directories are merged; files and links replace files and links of the same name.
    ///
    /// Permission bits (`0o777`) and times of files are kept, owners are not. Directories stay usable by their owner; existing
    /// directories keep their own bits. The stream is read up to the archive's end mark (a gzip stream up to its own end).
    ///
    /// # Errors
    /// After any error but [`Error::NotUndone`] the destination is unchanged. Names and links that lead out of it, devices and
    /// pipes, and a file in place of a directory (or the reverse) are [`Error::Refused`]; an archive without an end mark is
    /// [`Error::Truncated`].
    pub fn unpack(
        &self,
        reader: impl Read,
        dest: &RootedPath,
        limits: &UnpackLimits,
    ) -> Result<UnpackSummary, Error> {
        let absolute = self.absolute(dest);
        let made = self.mkdir_all(&absolute).at(FileOperation::UnpackInto, dest)?;
        let result = self.unpack_into(reader, dest, &absolute, limits);
        if result.is_err() {
            self.remove_created(&made);
        }
        result
    }

    fn unpack_into(
        &self,
        reader: impl Read,
        dest: &RootedPath,
        absolute: &RootedPath,
        limits: &UnpackLimits,
    ) -> Result<UnpackSummary, Error> {
        let handle = self.open_at(absolute, DIRECTORY).at(FileOperation::UnpackInto, dest)?;
        let stage = StagingDirectory::new(handle, dest)?;
        let mut unpacking = UnpackRun { stage, done: UnpackSummary::default(), buffer: vec![0; CHUNK_BYTES] };
        let mut archive = TarReader::new(maybe_gzip::MaybeGzip::new(reader)?, limits.bytes);
        unpacking.run(&mut archive, limits.entries.min(ENTRIES_MAX))?;
        archive.into_inner().finish()?;
        unpacking.stage.commit()?;
        Ok(unpacking.done)
    }
}

/// The transfer of an archive to the staging directory.
struct UnpackRun<'a> {
    stage: StagingDirectory<'a>,
    done: UnpackSummary,
    buffer: Vec<u8>,
}

impl UnpackRun<'_> {
    fn run(&mut self, archive: &mut TarReader<impl Read>, most: usize) -> Result<(), Error> {
        let mut index = 0;
        while let Some(member) = archive.next()? {
            index += 1;
            if index > most {
                return Err(Error::TooManyEntries { most });
            }
            self.unpack_member(archive, &member).map_err(|fault| fault.with_name_of(&member))?;
        }
        Ok(())
    }

    fn unpack_member(
        &mut self,
        archive: &mut TarReader<impl Read>,
        member: &TarMember,
    ) -> Result<(), MemberError> {
        let name = MemberName::parse(&member.name)?;
        // Old archives mark a directory only by a slash at the end of its name.
        let has_slash = member.kind == EntryType::Regular && member.name.ends_with(b"/");
        if has_slash || member.kind == EntryType::Directory {
            self.done.directories += 1;
            return self.stage.create_directory(&name, member.mode);
        }
        match member.kind {
            EntryType::Regular | EntryType::Continuous => {
                let file = self.stage.create_file(&name)?;
                self.copy_content(archive, file, member)?;
            }
            EntryType::Symlink => self.stage.create_symlink(&name, &member.link)?,
            EntryType::Link => self.stage.create_hard_link(&name, &MemberName::parse(&member.link)?)?,
            EntryType::Fifo | EntryType::Char | EntryType::Block => {
                return Err(MemberRefusal::SpecialFile.into());
            }
            _ => return Err(MemberRefusal::UnsupportedKind.into()),
        }
        self.done.files += 1;
        Ok(())
    }

    fn copy_content(
        &mut self,
        archive: &mut TarReader<impl Read>,
        mut file: staging_directory::StagedFile,
        member: &TarMember,
    ) -> Result<(), MemberError> {
        loop {
            match archive.read(&mut self.buffer).map_err(MemberError::Other)? {
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
