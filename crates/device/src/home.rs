//! Where a device keeps its own files.

use std::{
    fs::{self, TryLockError},
    io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use files::private_file;
use process::SurvivorRecord;
use protocol::relay::ClientId;
use tracing::warn;

/// All devices are below this.
const DEVICES: &str = "device";

/// Where a device keeps its own files: `device/<client_id>` below the data directory, for nobody but its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

/// This process is the device, and no other is, for as long as this lives.
#[derive(Debug)]
pub struct Claim(#[expect(dead_code, reason = "it holds the lock, and records processes")] SurvivorRecord);

/// Why a device cannot use its files.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Another process is this device.
    #[error("device `{0}` is already running; see `tombolo device status`")]
    Taken(String),
    /// They cannot be made.
    #[error("could not use `{}`", path.display())]
    Files {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Home {
    /// The place of this device.
    pub fn of(data_dir: &Path, client_id: &ClientId) -> Self {
        Self(data_dir.join(DEVICES).join(client_id.as_str()))
    }

    /// Every device that has files there, by name.
    pub fn all(data_dir: &Path) -> Vec<ClientId> {
        let Ok(entries) = fs::read_dir(data_dir.join(DEVICES)) else { return Vec::new() };
        let mut all: Vec<ClientId> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        all.sort();
        all
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// Where the device is spoken to.
    pub fn socket(&self) -> PathBuf {
        self.0.join("control.sock")
    }

    /// Where programs offer tools to it.
    pub fn tools(&self) -> PathBuf {
        self.0.join("tools.sock")
    }

    /// Where its record is.
    pub fn audit(&self) -> PathBuf {
        self.0.join("audit")
    }

    /// What it was paired with.
    pub fn paired(&self) -> PathBuf {
        self.0.join("paired.json")
    }

    /// Makes the directory, if there is none.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn create(&self) -> Result<(), HomeError> {
        let made = private_file::create_directory(&self.0);
        // It may have been there before, for others to read.
        made.and_then(|()| fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700)))
            .map_err(|source| HomeError::Files { path: self.0.clone(), source })
    }

    /// Becomes the device, if no other process is. If the last one was killed, this also ends the processes that its
    /// commands and tools left behind.
    ///
    /// # Errors
    /// If one is, or the files cannot be made.
    pub fn claim(&self) -> Result<Claim, HomeError> {
        self.create()?;
        let path = self.0.join("lock");
        let failed = |source| HomeError::Files { path: path.clone(), source };
        let mut options = fs::OpenOptions::new();
        let lock = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let lock = lock.map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {
                let record = SurvivorRecord::open(lock).map_err(failed)?;
                if record.ended_any() {
                    warn!("ended processes that the device's last run left behind");
                }
                Ok(Claim(record))
            }
            Err(TryLockError::WouldBlock) => {
                let name = self.0.file_name().unwrap_or_default().to_string_lossy();
                Err(HomeError::Taken(name.into_owned()))
            }
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }
}
