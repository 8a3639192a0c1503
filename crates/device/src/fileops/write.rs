//! `file.write`.

use std::{fs::File, io::Read};

use base64::{Engine, prelude::BASE64_STANDARD};
use files::{AppendFile, AtomicFile, CHUNK_BYTES, CreateOptions, Durability, EntryMetadata, IfExists};
use parking_lot::Mutex;
use protocol::relay::{
    Encoding, RelayError, RelayErrorCode,
    file::{CreateMode, IfMatch, WriteFile, WriteFileResult},
};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::{
    Spot,
    look::mtime,
    refusal::{cancelled, failed, invalid},
};

/// How many files can be written at a time for sure; more if chance will have it.
const TURNS_MAX: usize = 64;

/// Who writes the same file takes turns, so that what one has looked at is what it replaces.
#[derive(Debug)]
pub(super) struct Turns([Mutex<Option<Known>>; TURNS_MAX]);

/// A file as it was left, so that whoever writes after what is in it need not read that.
#[derive(Debug)]
struct Known {
    stat: EntryMetadata,
    hash: Sha256,
}

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(None)))
    }
}

impl Turns {
    fn of(&self, place: u64) -> &Mutex<Option<Known>> {
        // The remainder is less than there are.
        &self.0[(place % TURNS_MAX as u64) as usize]
    }
}

/// Writes a file so that everybody sees the old one or the new one, also after a crash. What is appended without
/// a condition is written where the file is: a large one that comes in pieces is not written anew with each of them.
pub(super) fn write(
    spot: &Spot,
    asked: WriteFile,
    turns: &Turns,
    stop: &CancellationToken,
) -> Result<WriteFileResult, RelayError> {
    let refused = |error: files::Error| spot.refused(&error);
    let WriteFile { content, encoding, append, create, if_match, .. } = asked;
    let bytes = match encoding {
        Encoding::Utf8 => content.into_bytes(),
        Encoding::Base64 => BASE64_STANDARD.decode(content).map_err(|_| {
            invalid("not_base64", "the content is not valid base64, although `encoding` says so")
        })?,
    };
    let create = create.unwrap_or_default();
    let existing = if create == CreateMode::New { IfExists::Refuse } else { IfExists::Replace };
    let options = CreateOptions { existing, durability: Durability::Synced, ..CreateOptions::default() };
    let mut file = spot.files.create(&spot.at()?, options).map_err(|error| taken(spot, &error))?;
    let mut known = turns.of(file.target_id().map_err(refused)?).lock();
    if append
        && if_match.is_none()
        && let Some(current) = file.current_to_append().map_err(refused)?
    {
        return add(spot, current, &bytes, &mut known, stop);
    }
    let mut draft = Draft { hash: Sha256::new(), size: 0 };
    if append || if_match.is_some() || create == CreateMode::Existing {
        let current = file.current().map_err(refused)?;
        if create == CreateMode::Existing && current.is_none() {
            return Err(missing(spot));
        }
        if let Some(expected) = &if_match {
            matches(spot, expected, current.as_ref(), stop)?;
        }
        if let Some((old, _)) = current.filter(|_| append) {
            chunks(spot, &old, stop, |chunk| draft.add(&mut file, chunk).map_err(refused))?;
        }
    }
    draft.add(&mut file, &bytes).map_err(refused)?;
    if stop.is_cancelled() {
        return Err(cancelled());
    }
    let stat = file.commit().map_err(|error| taken(spot, &error))?.stat;
    *known = Some(Known { stat, hash: draft.hash.clone() });
    Ok(WriteFileResult { size_bytes: draft.size, sha256: digest(draft.hash) })
}

/// Writes after what is in a file.
fn add(
    spot: &Spot,
    file: AppendFile,
    bytes: &[u8],
    known: &mut Option<Known>,
    stop: &CancellationToken,
) -> Result<WriteFileResult, RelayError> {
    let handle = file.file().try_clone().map_err(|error| failed(spot, "write", &error))?;
    let (mut hash, size) = match known.take() {
        Some(known) if known.stat == *file.stat() => (known.hash, known.stat.size),
        _ => hashed(spot, &handle, stop)?,
    };
    if stop.is_cancelled() {
        return Err(cancelled());
    }
    let stat = file.append(bytes).map_err(|error| spot.refused(&error))?;
    hash.update(bytes);
    if stat.size != size + bytes.len() as u64 {
        // Somebody else has written it too.
        let (hash, size_bytes) = hashed(spot, &handle, stop)?;
        return Ok(WriteFileResult { size_bytes, sha256: digest(hash) });
    }
    let written = WriteFileResult { size_bytes: stat.size, sha256: digest(hash.clone()) };
    *known = Some(Known { stat, hash });
    Ok(written)
}

/// What was written so far.
struct Draft {
    hash: Sha256,
    size: u64,
}

impl Draft {
    fn add(&mut self, file: &mut AtomicFile, bytes: &[u8]) -> Result<(), files::Error> {
        file.write_all(bytes)?;
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }
}

/// Whether the file is still as it was seen.
fn matches(
    spot: &Spot,
    expected: &IfMatch,
    current: Option<&(File, EntryMetadata)>,
    stop: &CancellationToken,
) -> Result<(), RelayError> {
    let Some((file, stat)) = current else { return Err(conflict(spot, "it does not exist")) };
    let same = match expected {
        IfMatch::Stamp { mtime: seen, size_bytes } => mtime(stat) == *seen && stat.size == *size_bytes,
        IfMatch::Hash { sha256 } => {
            let (hash, _) = hashed(spot, file, stop)?;
            digest(hash) == *sha256
        }
    };
    if same { Ok(()) } else { Err(conflict(spot, "it has changed")) }
}

/// The hash of all bytes of a file, and how many they are.
fn hashed(spot: &Spot, file: &File, stop: &CancellationToken) -> Result<(Sha256, u64), RelayError> {
    let (mut hash, mut size) = (Sha256::new(), 0);
    chunks(spot, file, stop, |chunk| {
        hash.update(chunk);
        size += chunk.len() as u64;
        Ok(())
    })?;
    Ok((hash, size))
}

/// Gives all bytes of a file, from its start.
fn chunks(
    spot: &Spot,
    mut file: &File,
    stop: &CancellationToken,
    mut take: impl FnMut(&[u8]) -> Result<(), RelayError>,
) -> Result<(), RelayError> {
    let mut buffer = vec![0; CHUNK_BYTES];
    // The handle may have been read before.
    std::io::Seek::rewind(&mut file).map_err(|error| failed(spot, "read", &error))?;
    loop {
        if stop.is_cancelled() {
            return Err(cancelled());
        }
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&buffer[..count])?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(spot, "read", &error)),
        }
    }
}

fn digest(hash: Sha256) -> protocol::relay::Sha256 {
    protocol::relay::Sha256::from(<[u8; 32]>::from(hash.finalize()))
}

/// A file that is there where none may be is a conflict too.
fn taken(spot: &Spot, error: &files::Error) -> RelayError {
    match error.cause {
        files::FileErrorCause::AlreadyExists => conflict(spot, "it already exists"),
        _ => spot.refused(error),
    }
}

fn conflict(spot: &Spot, why: &str) -> RelayError {
    invalid("conflict", format!("could not write `{}`: {why}", spot.path))
        .with("root_id", spot.root_id.as_str())
}

fn missing(spot: &Spot) -> RelayError {
    RelayError::new(RelayErrorCode::NotFound, format!("could not write `{}`: it does not exist", spot.path))
        .with("root_id", spot.root_id.as_str())
        .with("reason", "not_found")
}
