//! Cursors of the hub: the place in a runtime's stream, under a seal.
//!
//! A cursor says which worker it is of and what the runtime calls the place, and is sealed with a key that only this
//! hub has. So nobody can make one up, one of another worker is known for what it is, and each is good for as long as
//! the runtime knows the place, whatever becomes of the hub meanwhile.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::Mac;
use hub_access::SigningKey;
use protocol::{RuntimeId, SessionId, observation::DiagnosticKind};

/// How much of a worker's name is in a cursor: enough to know it from others.
const WORKER_BYTES: usize = 8;

/// How long a seal is: too long to be guessed.
const SEAL_BYTES: usize = 16;

/// The longest text that can be a cursor.
const CURSOR_CHARS_MAX: usize = 512;

/// Seals the cursors of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Seal {
    key: SigningKey,
    worker: [u8; WORKER_BYTES],
}

impl Seal {
    pub(crate) fn new(key: SigningKey, runtime: &RuntimeId, worker: &SessionId) -> Self {
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

    fn seal(key: &SigningKey, worker: &str) -> Seal {
        Seal::new(key.clone(), &"box".parse().unwrap(), &worker.parse().unwrap())
    }

    /// observation-44, observation-50, observation-59: a cursor of another worker is unknown; one that was made up or garbled is malformed.
    #[test]
    fn a_cursor_is_of_one_worker_and_one_hub() {
        let directory = tempfile::tempdir().unwrap();
        let key = SigningKey::open(&directory.path().join("key")).unwrap();
        let other = SigningKey::open(&directory.path().join("other")).unwrap();
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
        let cursor = seal(&SigningKey::open(&path).unwrap(), "a").close("x");
        assert_eq!(seal(&SigningKey::open(&path).unwrap(), "a").open(&cursor).as_deref(), Ok("x"));
        std::fs::write(&path, "short").unwrap();
        assert!(SigningKey::open(&path).is_err());
    }
}
