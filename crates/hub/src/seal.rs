//! Cursors of the hub: the place in a runtime's stream, under a seal.
//!
//! A cursor says which worker it is of and what the runtime calls the place, and is sealed with a key that only this
//! hub has. So nobody can make one up, one of another worker is known for what it is, and each is good for as long as
//! the runtime knows the place, whatever becomes of the hub meanwhile.

use std::{io, path::Path, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use files::private_file;
use hmac::{Hmac, KeyInit, Mac};
use protocol::{RuntimeId, SessionId, observation::DiagnosticKind};
use rustix::rand::GetRandomFlags;
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;

const KEY_BYTES: usize = 32;

/// How much of a worker's name is in a cursor: enough to know it from others.
const WORKER_BYTES: usize = 8;

/// How long a seal is: too long to be guessed.
const SEAL_BYTES: usize = 16;

/// The longest text that can be a cursor.
const CURSOR_CHARS_MAX: usize = 512;

/// Keeps page keys apart from the seals of cursors, which begin with bytes that are not text.
const PAGE_KEY: &str = "page key of the cookie ";

/// What the hub seals with.
#[derive(Debug, Clone)]
pub struct Key(Arc<SecretBox<[u8; KEY_BYTES]>>);

impl Key {
    /// Reads it from the file, or makes one.
    ///
    /// # Errors
    /// If the file can be neither read nor made, or holds something else.
    pub fn open(path: &Path) -> io::Result<Self> {
        match private_file::read(path)? {
            Some(bytes) => {
                let key = Box::<[u8; KEY_BYTES]>::try_from(bytes)
                    .map_err(|_| io::Error::other("the file does not contain a key"))?;
                Ok(Self(Arc::new(SecretBox::new(key))))
            }
            None => {
                let mut key = Box::new([0; KEY_BYTES]);
                // So few bytes are given at once or not at all.
                rustix::rand::getrandom(&mut key[..], GetRandomFlags::empty())?;
                private_file::write(path, &key[..])?;
                Ok(Self(Arc::new(SecretBox::new(key))))
            }
        }
    }

    /// The key that must come with a cookie of this machine. It follows from the cookie, but only this hub can tell how.
    pub(crate) fn page_key(&self, cookie: &str) -> String {
        let mac = self.mac().chain_update(PAGE_KEY).chain_update(cookie);
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }

    /// Whether this is the key that must come with the cookie.
    pub(crate) fn is_page_key(&self, cookie: &str, page_key: &str) -> bool {
        let mac = self.mac().chain_update(PAGE_KEY).chain_update(cookie);
        URL_SAFE_NO_PAD.decode(page_key).is_ok_and(|bytes| mac.verify_slice(&bytes).is_ok())
    }

    fn mac(&self) -> Hmac<Sha256> {
        // Any length of a key is good; this cannot fail.
        Hmac::new_from_slice(self.0.expose_secret()).unwrap_or_else(|_| Hmac::new(&Default::default()))
    }
}

/// Seals the cursors of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Seal {
    key: Key,
    worker: [u8; WORKER_BYTES],
}

impl Seal {
    pub(crate) fn new(key: Key, runtime: &RuntimeId, worker: &SessionId) -> Self {
        let mac = key.mac().chain_update(runtime.as_str()).chain_update([0]).chain_update(worker.as_str());
        let worker = first(&mac.finalize().into_bytes());
        Self { key, worker }
    }

    /// The cursor for a place that the runtime calls so.
    pub(crate) fn close(&self, place: &str) -> String {
        let mut bytes = Vec::with_capacity(WORKER_BYTES + place.len() + SEAL_BYTES);
        bytes.extend_from_slice(&self.worker);
        bytes.extend_from_slice(place.as_bytes());
        let seal = self.key.mac().chain_update(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&seal[..SEAL_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What the runtime calls the place of a cursor, or what is wrong with it.
    pub(crate) fn open(&self, cursor: &str) -> Result<String, DiagnosticKind> {
        let bytes = match cursor.len() {
            0..=CURSOR_CHARS_MAX => {
                URL_SAFE_NO_PAD.decode(cursor).map_err(|_| DiagnosticKind::CursorMalformed)?
            }
            _ => return Err(DiagnosticKind::CursorMalformed),
        };
        let at = bytes.len().checked_sub(SEAL_BYTES).filter(|at| *at >= WORKER_BYTES);
        let (said, seal) = bytes.split_at(at.ok_or(DiagnosticKind::CursorMalformed)?);
        let mac = self.key.mac().chain_update(said);
        mac.verify_truncated_left(seal).map_err(|_| DiagnosticKind::CursorMalformed)?;
        let (worker, place) = said.split_at(WORKER_BYTES);
        if worker != self.worker {
            return Err(DiagnosticKind::CursorUnknown);
        }
        String::from_utf8(place.to_vec()).map_err(|_| DiagnosticKind::CursorMalformed)
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut first = [0; N];
    first.copy_from_slice(&bytes[..N]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(key: &Key, worker: &str) -> Seal {
        Seal::new(key.clone(), &"box".parse().unwrap(), &worker.parse().unwrap())
    }

    /// observation-44, observation-50, observation-59: a cursor of another worker is unknown; one that was made up or garbled is malformed.
    #[test]
    fn a_cursor_is_of_one_worker_and_one_hub() {
        let directory = tempfile::tempdir().unwrap();
        let key = Key::open(&directory.path().join("key")).unwrap();
        let other = Key::open(&directory.path().join("other")).unwrap();
        let cursor = seal(&key, "a").close("epoch-7");
        assert_eq!(seal(&key, "a").open(&cursor).as_deref(), Ok("epoch-7"));
        assert_eq!(seal(&key, "b").open(&cursor), Err(DiagnosticKind::CursorUnknown));
        assert_eq!(seal(&other, "a").open(&cursor), Err(DiagnosticKind::CursorMalformed));
        for at in 0..cursor.len() {
            let mut garbled = cursor.clone().into_bytes();
            garbled[at] = if garbled[at] == b'A' { b'Z' } else { b'A' };
            let garbled = String::from_utf8(garbled).unwrap();
            assert_eq!(seal(&key, "a").open(&garbled), Err(DiagnosticKind::CursorMalformed), "{at}");
        }
        for text in ["", "epoch-7", "====", &"A".repeat(10_000)] {
            assert_eq!(seal(&key, "a").open(text), Err(DiagnosticKind::CursorMalformed), "{text}");
        }
    }

    /// observation-62: cursors outlive the hub.
    #[test]
    fn the_key_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let cursor = seal(&Key::open(&path).unwrap(), "a").close("x");
        assert_eq!(seal(&Key::open(&path).unwrap(), "a").open(&cursor).as_deref(), Ok("x"));
        std::fs::write(&path, "short").unwrap();
        assert!(Key::open(&path).is_err());
    }
}
