//! State in one JSON file that only its owner can read.

use std::{io, path::Path};

use files::{private_file, slot_file};
use serde::{Serialize, de::DeserializeOwned};
use tracing::warn;

/// Reads the value; the default if there is no file. Prepares the file to be changed on a full disk.
pub fn read<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    match private_file::read(path)? {
        Some(content) => {
            let value = serde_json::from_slice(&content)?;
            if let Err(error) = slot_file::prepare(path) {
                warn!(%error, path = %path.display(), "could not hold back disk space for changes of a file");
            }
            Ok(value)
        }
        None => Ok(T::default()),
    }
}

/// Replaces the whole file. Content that has not grown can be written on a full disk too.
pub fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    slot_file::write(path, &serde_json::to_vec_pretty(value)?)
}
