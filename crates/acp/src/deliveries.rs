//! Which messages were handed to the agent under a key of the client's, so that one that comes again is not.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
};

use protocol::IdempotencyKey;

/// How many keys of one instance are remembered. A client repeats what it was not told of, which is at most what it has
/// under way at once; with keys of the longest kind this is a quarter of a megabyte.
pub(crate) const KEYS_MAX: usize = 1024;

/// What is known of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It was not seen, or is long forgotten.
    New,
    /// This message was handed over under it.
    Repeated,
    /// Another message was.
    Another,
}

/// The last messages that were handed to the agent under a key.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    messages: HashMap<IdempotencyKey, Print>,
    /// The keys, oldest first.
    order: VecDeque<IdempotencyKey>,
    hasher: RandomState,
}

/// Tells one message from another without keeping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Print {
    hash: u64,
    bytes: usize,
}

impl Deliveries {
    /// What is known of `key` when it comes with `body`.
    pub(crate) fn of(&self, key: &IdempotencyKey, body: &[u8]) -> Delivery {
        match self.messages.get(key) {
            None => Delivery::New,
            Some(print) if *print == self.print(body) => Delivery::Repeated,
            Some(_) => Delivery::Another,
        }
    }

    /// Remembers that `body` was handed over under `key`; the oldest key makes room.
    pub(crate) fn note(&mut self, key: &IdempotencyKey, body: &[u8]) {
        let print = self.print(body);
        if self.messages.insert(key.clone(), print).is_some() {
            return;
        }
        self.order.push_back(key.clone());
        if self.order.len() > KEYS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.messages.remove(&oldest);
        }
    }

    fn print(&self, body: &[u8]) -> Print {
        Print { hash: self.hasher.hash_one(body), bytes: body.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> IdempotencyKey {
        format!("key-{number}").parse().unwrap()
    }

    #[test]
    fn a_key_is_known_with_its_message_and_with_no_other() {
        let mut deliveries = Deliveries::default();
        assert_eq!(deliveries.of(&key(1), b"{}"), Delivery::New);
        deliveries.note(&key(1), b"{}");
        assert_eq!(deliveries.of(&key(1), b"{}"), Delivery::Repeated);
        assert_eq!(deliveries.of(&key(1), b"{ }"), Delivery::Another);
        assert_eq!(deliveries.of(&key(2), b"{}"), Delivery::New);
    }

    #[test]
    fn the_oldest_key_makes_room_and_memory_stays_bounded() {
        let mut deliveries = Deliveries::default();
        for number in 0..3 * KEYS_MAX {
            deliveries.note(&key(number), b"{}");
            assert!(deliveries.messages.len() <= KEYS_MAX && deliveries.order.len() <= KEYS_MAX);
        }
        assert_eq!(deliveries.of(&key(2 * KEYS_MAX - 1), b"{}"), Delivery::New);
        assert_eq!(deliveries.of(&key(2 * KEYS_MAX), b"{}"), Delivery::Repeated);
    }
}
