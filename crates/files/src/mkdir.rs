//! Making directories.

use rustix::{
    fs::{self, AtFlags, Mode},
    io::Errno,
};

use crate::{
    Cause, Error, Root, VirtualPath,
    error::At,
    root::{DIRECTORY, Place},
};

/// What to do about directories missing on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parents {
    /// They must be there.
    #[default]
    Require,
    /// Make them.
    Create,
}

impl Root {
    /// Makes the directory `path`; `false` when it was there already.
    ///
    /// # Errors
    /// [`Cause::AlreadyExists`] when something else has the name.
    pub fn mkdir(&self, path: &VirtualPath, parents: Parents) -> Result<bool, Error> {
        let absolute = self.absolute(path);
        match parents {
            Parents::Create => self.mkdir_all(&absolute).map(|made| !made.is_empty()),
            Parents::Require => self.mkdir_one(&absolute),
        }
        .at("make the directory", path)
    }

    /// Makes `path` (seen from the root) and what is missing above it. Returns what was made, outermost first.
    pub(crate) fn mkdir_all(&self, path: &VirtualPath) -> Result<Vec<VirtualPath>, Cause> {
        let prefixes = path.prefixes();
        // Mostly all of it is there, or all but the last: look from the far end.
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
                    self.unmake(&made);
                    let on_the_way = Some(prefix) != prefixes.last();
                    let taken = on_the_way && matches!(cause, Cause::AlreadyExists);
                    return Err(if taken { Cause::NotADirectory } else { cause });
                }
            }
        }
        Ok(made)
    }

    /// Takes back what [`Root::mkdir_all`] made, as far as nobody uses it yet.
    pub(crate) fn unmake(&self, made: &[VirtualPath]) {
        for path in made.iter().rev() {
            if let Ok(Place { dir, name, .. }) = self.place(path) {
                let _ = fs::unlinkat(dir, name, AtFlags::REMOVEDIR); // not empty: it is somebody's now
            }
        }
    }

    fn mkdir_one(&self, path: &VirtualPath) -> Result<bool, Cause> {
        // The root, and what ends in `..`, can only be there already.
        if path.split().is_none() {
            self.open_at(path, DIRECTORY)?;
            return Ok(false);
        }
        let place = self.place(path)?;
        match fs::mkdirat(&place.dir, &place.name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            // A link to a directory counts as one; a file, and a link to nothing, hold the name.
            Err(Errno::EXIST) => match self.open_at(path, DIRECTORY) {
                Ok(_) => Ok(false),
                Err(Errno::NOENT | Errno::NOTDIR) => Err(Cause::AlreadyExists),
                Err(errno) => Err(errno.into()),
            },
            Err(errno) => Err(errno.into()),
        }
    }
}
