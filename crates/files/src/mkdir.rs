//! Creating directories.

use rustix::{
    fs::{self, AtFlags, Mode},
    io::Errno,
};

use crate::{
    Error, FileErrorCause, FileOperation, RootDirectory, RootedPath,
    error::ErrorContext,
    root_directory::{DIRECTORY, EntryLocation},
};

/// How to proceed when directories on the way are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParentDirectories {
    /// Fail.
    #[default]
    Require,
    /// Create them.
    Create,
}

impl RootDirectory {
    /// Creates the directory `path`; `false` when it already exists.
    ///
    /// # Errors
    /// [`FileErrorCause::AlreadyExists`] when the name belongs to something else.
    pub fn mkdir(&self, path: &RootedPath, parents: ParentDirectories) -> Result<bool, Error> {
        let absolute = self.absolute(path);
        match parents {
            ParentDirectories::Create => self.mkdir_all(&absolute).map(|made| !made.is_empty()),
            ParentDirectories::Require => self.mkdir_one(&absolute),
        }
        .at(FileOperation::MakeDirectory, path)
    }

    /// Creates the absolute path `path` and missing directories above it. Returns the created ones, outermost first.
    pub(crate) fn mkdir_all(&self, path: &RootedPath) -> Result<Vec<RootedPath>, FileErrorCause> {
        let prefixes = path.prefixes();
        // Usually all of it exists, or all but the last directory: search from the far end.
        let mut missing = prefixes.len();
        while missing > 0 {
            match self.open_at(&prefixes[missing - 1], DIRECTORY) {
                Ok(_) => break,
                Err(Errno::NOENT | Errno::NOTDIR) => missing -= 1,
                Err(errno) => return Err(errno.into()),
            }
        }
        let mut made = Vec::new();
        for prefix in &prefixes[missing..] {
            match self.mkdir_one(prefix) {
                Ok(true) => made.push(prefix.clone()),
                Ok(false) => {}
                Err(cause) => {
                    self.remove_created(&made);
                    let on_the_way = Some(prefix) != prefixes.last();
                    let taken = on_the_way && matches!(cause, FileErrorCause::AlreadyExists);
                    return Err(if taken { FileErrorCause::NotADirectory } else { cause });
                }
            }
        }
        Ok(made)
    }

    /// Removes directories that [`RootDirectory::mkdir_all`] created, unless they are in use.
    pub(crate) fn remove_created(&self, made: &[RootedPath]) {
        for path in made.iter().rev() {
            if let Ok(EntryLocation { dir, name, .. }) = self.locate(path) {
                // Fails if another process has put entries into it: then it stays.
                let _ = fs::unlinkat(dir, name, AtFlags::REMOVEDIR);
            }
        }
    }

    fn mkdir_one(&self, path: &RootedPath) -> Result<bool, FileErrorCause> {
        // The root, and a path that ends in `..`, cannot be created.
        if path.split().is_none() {
            self.open_at(path, DIRECTORY)?;
            return Ok(false);
        }
        let place = self.locate(path)?;
        match fs::mkdirat(&place.dir, &place.name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            // A link to a directory counts as one. A file, or a link to nothing, blocks the name.
            Err(Errno::EXIST) => match self.open_at(path, DIRECTORY) {
                Ok(_) => Ok(false),
                Err(Errno::NOENT | Errno::NOTDIR) => Err(FileErrorCause::AlreadyExists),
                Err(errno) => Err(errno.into()),
            },
            Err(errno) => Err(errno.into()),
        }
    }
}
