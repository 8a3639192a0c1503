//! The idempotency keys of messages that were written to the agent, so that a repeated message is not written twice.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
};

use protocol::IdempotencyKey;

/// How many keys of one instance are remembered. A client repeats only messages whose result it did not receive, which
/// are at most as many as it sends concurrently. With keys of the maximum length, this is a quarter of a megabyte.
pub(crate) const KEYS_MAX: usize = 1024;

/// The relation of a message to the messages before it with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyStatus {
    /// The key is unknown, or was evicted by newer ones.
    New,
    /// The same message was delivered under this key.
    SameMessage,
    /// A different message was delivered under this key.
    OtherMessage,
}

/// The keys of the last [`KEYS_MAX`] messages that were delivered with one.
#[derive(Debug, Default)]
pub(crate) struct DeliveredKeys {
    fingerprints: HashMap<IdempotencyKey, MessageFingerprint>,
    /// The keys, oldest first.
    order: VecDeque<IdempotencyKey>,
    hasher: RandomState,
}

/// Distinguishes messages without storing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MessageFingerprint {
    hash: u64,
    bytes: usize,
}

impl DeliveredKeys {
    /// Compares `body` with the message that was delivered under `key`.
    pub(crate) fn status(&self, key: &IdempotencyKey, body: &[u8]) -> KeyStatus {
        match self.fingerprints.get(key) {
            None => KeyStatus::New,
            Some(fingerprint) if *fingerprint == self.fingerprint(body) => KeyStatus::SameMessage,
            Some(_) => KeyStatus::OtherMessage,
        }
    }

    /// Records that `body` was delivered under `key`, evicting the oldest key if there are too many.
    pub(crate) fn insert(&mut self, key: &IdempotencyKey, body: &[u8]) {
        let fingerprint = self.fingerprint(body);
        if self.fingerprints.insert(key.clone(), fingerprint).is_some() {
            return;
        }
        self.order.push_back(key.clone());
        if self.order.len() > KEYS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.fingerprints.remove(&oldest);
        }
    }

    fn fingerprint(&self, body: &[u8]) -> MessageFingerprint {
        MessageFingerprint { hash: self.hasher.hash_one(body), bytes: body.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> IdempotencyKey {
        format!("key-{number}").parse().unwrap()
    }

    #[test]
    fn a_key_matches_only_the_message_that_was_delivered_with_it() {
        let mut delivered = DeliveredKeys::default();
        assert_eq!(delivered.status(&key(1), b"{}"), KeyStatus::New);
        delivered.insert(&key(1), b"{}");
        assert_eq!(delivered.status(&key(1), b"{}"), KeyStatus::SameMessage);
        assert_eq!(delivered.status(&key(1), b"{ }"), KeyStatus::OtherMessage);
        assert_eq!(delivered.status(&key(2), b"{}"), KeyStatus::New);
    }

    #[test]
    fn the_oldest_key_is_evicted_and_memory_stays_bounded() {
        let mut delivered = DeliveredKeys::default();
        for number in 0..3 * KEYS_MAX {
            delivered.insert(&key(number), b"{}");
            assert!(delivered.fingerprints.len() <= KEYS_MAX && delivered.order.len() <= KEYS_MAX);
        }
        assert_eq!(delivered.status(&key(2 * KEYS_MAX - 1), b"{}"), KeyStatus::New);
        assert_eq!(delivered.status(&key(2 * KEYS_MAX), b"{}"), KeyStatus::SameMessage);
    }
}
