//! Opening a file for reading.

use std::fs::File;

use rustix::fs::OFlags;

use crate::{Cause, Error, FileKind, Root, Stat, VirtualPath, error::At};

impl Root {
    /// Opens the regular file at `path`. The [`Stat`] is of the very file that was opened.
    ///
    /// # Errors
    /// [`Cause::IsADirectory`], and [`Cause::NotAFile`] for pipes, sockets and devices, which would wait or flow forever.
    pub fn open_read(&self, path: &VirtualPath) -> Result<(File, Stat), Error> {
        self.open_regular(&self.absolute(path)).at("read", path)
    }

    fn open_regular(&self, path: &VirtualPath) -> Result<(File, Stat), Cause> {
        // Looking first spares a pipe's writer an unexpected reader, and a device the side effects of being opened.
        regular(&Stat::of(self.open_at(path, OFlags::PATH)?)?)?;
        // What was looked at may be something else by now: not waiting, and looking again, holds either way.
        let file = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = Stat::of(&file)?;
        regular(&stat)?;
        Ok((File::from(file), stat))
    }
}

fn regular(stat: &Stat) -> Result<(), Cause> {
    match stat.kind {
        FileKind::File => Ok(()),
        FileKind::Directory => Err(Cause::IsADirectory),
        FileKind::Symlink | FileKind::Other => Err(Cause::NotAFile),
    }
}
