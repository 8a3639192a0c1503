//! Audit entries form a hash chain: changing or removing an entry breaks it.
//!
//! Each entry holds its position (`seq`, from 1), the hash of the previous entry (`prev_hash`, absent in the first)
//! and its own hash (`hash`): the SHA-256, in hexadecimal, of the entry as canonical JSON without `hash`. Canonical
//! JSON has no whitespace between tokens, sorts the members of each object by the bytes of their names, and contains
//! only integers as numbers. Verification hashes the stored JSON rather than a parsed [`RelayAuditEntry`], so fields added
//! by newer versions are covered too.
//!
//! The chain alone does not reveal that entries were cut off at its end. To detect that, compare its [`ChainHead`] with a
//! copy stored elsewhere.

use serde_json::Value;
use sha2::Digest;

use crate::relay::{RelayAuditEntry, Sha256};

/// The last entry of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// Position of the entry.
    pub seq: u64,
    /// Hash of the entry.
    pub hash: Sha256,
}

/// The first entry at which a chain is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {why}")]
pub struct BrokenChain {
    /// Expected position of the entry.
    pub seq: u64,
    /// The violated rule.
    pub why: ChainViolation,
}

/// Rules of the chain that an entry can violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainViolation {
    /// `seq` or `hash` is missing or malformed.
    #[error("it is not an entry of a hash chain")]
    MalformedEntry,
    /// `seq` is not the expected position: entries were removed or reordered.
    #[error("another one stands here: one is missing, or they were moved")]
    WrongPosition,
    /// `prev_hash` is not the hash of the previous entry.
    #[error("the entry before it is not the one that it was written after")]
    WrongPreviousHash,
    /// `hash` does not match the content.
    #[error("it was changed")]
    ContentChanged,
}

/// Links `entry` to `head`, or starts a chain with it, and appends the entry's JSON to `json`. Returns the new head.
///
/// The hash covers the canonical JSON without `hash`, so that text is written once and completed with the hash: the logs of
/// hub and device link every request twice.
#[must_use]
pub fn append(head: Option<&ChainHead>, entry: RelayAuditEntry, json: &mut Vec<u8>) -> ChainHead {
    let seq = head.map_or(1, |head| head.seq.saturating_add(1));
    let prev_hash = head.map(|head| head.hash.clone());
    let start = json.len();
    // A wire type can always be serialised.
    let value = serde_json::to_value(RelayAuditEntry { seq: Some(seq), prev_hash, hash: None, ..entry });
    write_canonical(&value.unwrap_or_default(), json, Scope::Entry);
    let hash = Sha256::from(<[u8; 32]>::from(sha2::Sha256::digest(&json[start..])));
    json.pop();
    json.extend_from_slice(b",\"hash\":\"");
    json.extend_from_slice(hash.as_str().as_bytes());
    json.extend_from_slice(b"\"}");
    ChainHead { seq, hash }
}

/// Verifies a complete chain, from its first entry, and returns its head.
///
/// # Errors
/// Returns the first entry that breaks the chain.
pub fn verify<'a>(entries: impl IntoIterator<Item = &'a Value>) -> Result<Option<ChainHead>, BrokenChain> {
    let mut verifier = ChainVerifier::default();
    entries.into_iter().try_for_each(|entry| verifier.verify_next(entry))?;
    Ok(verifier.head().cloned())
}

/// Verifies the entries of a chain one by one.
#[derive(Debug, Clone, Default)]
pub struct ChainVerifier {
    head: Option<ChainHead>,
    /// Whether the chain may start at any position.
    any_position: bool,
}

impl ChainVerifier {
    /// Starts at any position, for chains whose oldest entries were deleted.
    #[must_use]
    pub fn from_any_position() -> Self {
        Self { head: None, any_position: true }
    }

    /// Starts after `head`.
    #[must_use]
    pub fn after(head: Option<ChainHead>) -> Self {
        Self { head, any_position: false }
    }

    /// The last verified entry.
    pub fn head(&self) -> Option<&ChainHead> {
        self.head.as_ref()
    }

    /// Verifies the next entry, given as its stored JSON.
    ///
    /// # Errors
    /// Fails if the entry breaks the chain; the head then stays unchanged.
    pub fn verify_next(&mut self, entry: &Value) -> Result<(), BrokenChain> {
        let found_seq = entry.get("seq").and_then(Value::as_u64);
        let first = self.head.is_none() && self.any_position;
        let seq = match &self.head {
            Some(head) => head.seq.saturating_add(1),
            None if first => found_seq.unwrap_or(1),
            None => 1,
        };
        let broken = |why| BrokenChain { seq, why };
        let (Some(found_seq), Some(own_hash)) =
            (found_seq, text(entry, "hash").and_then(|hash| hash.parse().ok()))
        else {
            return Err(broken(ChainViolation::MalformedEntry));
        };
        if found_seq != seq {
            return Err(broken(ChainViolation::WrongPosition));
        }
        if !first && text(entry, "prev_hash") != self.head.as_ref().map(|head| head.hash.as_str()) {
            return Err(broken(ChainViolation::WrongPreviousHash));
        }
        if hash(entry) != own_hash {
            return Err(broken(ChainViolation::ContentChanged));
        }
        self.head = Some(ChainHead { seq, hash: own_hash });
        Ok(())
    }
}

fn text<'a>(entry: &'a Value, name: &str) -> Option<&'a str> {
    entry.get(name).and_then(Value::as_str)
}

/// Computes the hash of an entry.
fn hash(entry: &Value) -> Sha256 {
    let mut json = Vec::new();
    write_canonical(entry, &mut json, Scope::Entry);
    Sha256::from(<[u8; 32]>::from(sha2::Sha256::digest(&json)))
}

/// The part of an entry that a JSON value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The entry itself, whose hash does not cover its member `hash`.
    Entry,
    /// A value inside the entry.
    Nested,
}

/// Appends canonical JSON to `json`. The recursion is bounded because the JSON parser limits nesting.
fn write_canonical(value: &Value, json: &mut Vec<u8>, scope: Scope) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> =
                members.iter().filter(|(name, _)| scope == Scope::Nested || *name != "hash").collect();
            members.sort_unstable_by_key(|(name, _)| name.as_bytes());
            json.push(b'{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    json.push(b',');
                }
                write_plain(name, json);
                json.push(b':');
                write_canonical(value, json, Scope::Nested);
            }
            json.push(b'}');
        }
        Value::Array(items) => {
            json.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    json.push(b',');
                }
                write_canonical(item, json, Scope::Nested);
            }
            json.push(b']');
        }
        plain => write_plain(plain, json),
    }
}

/// Appends a string, number, boolean or null.
fn write_plain(value: &(impl serde::Serialize + ?Sized), json: &mut Vec<u8>) {
    // Neither a plain value nor a vector can fail.
    let _ = serde_json::to_writer(json, value);
}

#[cfg(test)]
mod tests;
