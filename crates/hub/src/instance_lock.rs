//! Keeps a second hub out of the directory of the first.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use files::private_file;
use rustix::fs::OFlags;

use crate::StartError;

/// The file that is locked while a hub runs. It contains the id of its process.
const FILE: &str = "hub.lock";

/// The lock of a directory. It is released when this value is dropped, and when the process ends.
#[derive(Debug)]
pub(crate) struct InstanceLock {
    _locked: File,
}

impl InstanceLock {
    /// Locks the directory, which is created if it does not exist.
    pub(crate) fn acquire(directory: &Path) -> Result<Self, StartError> {
        let files = |source| StartError::Files { path: directory.into(), source };
        private_file::create_directory(directory).map_err(files)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let mut file = options.open(directory.join(FILE)).map_err(files)?;
        match file.try_lock() {
            Ok(()) => {
                let record = |file: &mut File| {
                    file.set_len(0)?;
                    writeln!(file, "{}", std::process::id())
                };
                // Only the message of another hub needs it, so that a full disk is no reason not to start.
                let _ = record(&mut file);
            }
            Err(TryLockError::WouldBlock) => {
                let process = io::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
                return Err(StartError::Running { process, path: directory.into() });
            }
            // Some network file systems have no locks. The databases in the directory have locks of their own.
            Err(TryLockError::Error(_)) => {}
        }
        Ok(Self { _locked: file })
    }
}
