//! State in one JSON file that only its owner can read.

use std::{io, path::Path};

use files::private_file;
use serde::{Serialize, de::DeserializeOwned};

/// Reads the value; the default if there is no file.
pub fn read<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    match private_file::read(path)? {
        Some(content) => Ok(serde_json::from_slice(&content)?),
        None => Ok(T::default()),
    }
}

/// Replaces the whole file.
pub fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    private_file::write(path, &serde_json::to_vec_pretty(value)?)
}
