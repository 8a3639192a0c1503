//! Audit entries that hold on to each other, so that none can be changed or taken out unseen.
//!
//! Each entry has its place (`seq`, from 1 on), the hash of the one before it (`prev_hash`, not there in the first) and its
//! own (`hash`): SHA-256, in hexadecimal, of the entry as canonical JSON without `hash`. Canonical JSON has no space between
//! its tokens, and the members of each object in the order of the bytes of their names; its numbers are integers. Who
//! verifies reads the entry as it was written, so what a newer version adds to one counts too.
//!
//! A chain does not tell whether its end was cut off: for that its [`Head`] is compared with one that was kept elsewhere.

use std::fmt::Write;

use serde_json::{Value, json};
use sha2::Digest;

use crate::relay::{AuditEntry, Sha256};

/// The last entry of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its place.
    pub seq: u64,
    /// Its hash.
    pub hash: Sha256,
}

/// Where a chain is broken: the first entry of which something does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {why}")]
pub struct Broken {
    /// Its place, as it follows from those before it.
    pub seq: u64,
    /// What does not hold.
    pub why: Why,
}

/// What does not hold of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is no entry of a chain.
    #[error("it is not an entry of a chain")]
    NoEntry,
    /// It is not the one that follows.
    #[error("another one stands here: one is missing, or they were moved")]
    Place,
    /// The one before it is not the one that was there when it was written.
    #[error("the entry before it is not the one that it was written after")]
    Before,
    /// It is not what it was when it was written.
    #[error("it was changed")]
    Changed,
}

/// The entry as the one that follows `head`; as the first of a chain if there is none.
#[must_use]
pub fn link(head: Option<&Head>, entry: AuditEntry) -> (AuditEntry, Head) {
    let seq = head.map_or(1, |head| head.seq.saturating_add(1));
    let prev_hash = head.map(|head| head.hash.clone());
    let entry = AuditEntry { seq: Some(seq), prev_hash, hash: None, ..entry };
    let hash = hash(&json!(entry));
    (AuditEntry { hash: Some(hash.clone()), ..entry }, Head { seq, hash })
}

/// Whether all entries of a chain are there, from the first on, as they were written; its last.
///
/// # Errors
/// The first entry of which that does not hold.
pub fn verify<'a>(entries: impl IntoIterator<Item = &'a Value>) -> Result<Option<Head>, Broken> {
    let mut chained = Chained::default();
    entries.into_iter().try_for_each(|entry| chained.follow(entry))?;
    Ok(chained.head().cloned())
}

/// Entries of a chain that were looked at one after the other and hold.
#[derive(Debug, Clone, Default)]
pub struct Chained {
    head: Option<Head>,
    /// Whatever comes first is taken as it is.
    anywhere: bool,
}

impl Chained {
    /// Begins with whatever comes first, as older entries are no longer kept.
    #[must_use]
    pub fn anywhere() -> Self {
        Self { head: None, anywhere: true }
    }

    /// Begins with what follows this one.
    #[must_use]
    pub fn after(head: Option<Head>) -> Self {
        Self { head, anywhere: false }
    }

    /// The last that was looked at.
    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Looks at the next entry, as it was written.
    ///
    /// # Errors
    /// If something of it does not hold; it is then not the last one.
    pub fn follow(&mut self, entry: &Value) -> Result<(), Broken> {
        let said = entry.get("seq").and_then(Value::as_u64);
        let first = self.head.is_none() && self.anywhere;
        let seq = match &self.head {
            Some(head) => head.seq.saturating_add(1),
            None if first => said.unwrap_or(1),
            None => 1,
        };
        let broken = |why| Broken { seq, why };
        let (Some(said), Some(own)) = (said, text(entry, "hash").and_then(|hash| hash.parse().ok())) else {
            return Err(broken(Why::NoEntry));
        };
        if said != seq {
            return Err(broken(Why::Place));
        }
        if !first && text(entry, "prev_hash") != self.head.as_ref().map(|head| head.hash.as_str()) {
            return Err(broken(Why::Before));
        }
        if hash(entry) != own {
            return Err(broken(Why::Changed));
        }
        self.head = Some(Head { seq, hash: own });
        Ok(())
    }
}

fn text<'a>(entry: &'a Value, name: &str) -> Option<&'a str> {
    entry.get(name).and_then(Value::as_str)
}

/// The hash of an entry.
fn hash(entry: &Value) -> Sha256 {
    let mut text = String::new();
    canonical(entry, &mut text, true);
    let digest = sha2::Sha256::digest(&text);
    text.clear();
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    text.parse().unwrap_or_else(|_| unreachable!("64 hexadecimal digits"))
}

/// Writes canonical JSON; of the entry itself without `hash`. What was read is not nested deeper than it may be.
fn canonical(value: &Value, to: &mut String, is_entry: bool) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> =
                members.iter().filter(|(name, _)| !is_entry || *name != "hash").collect();
            members.sort_unstable_by_key(|(name, _)| name.as_bytes());
            to.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    to.push(',');
                }
                let _ = write!(to, "{}:", json!(name));
                canonical(value, to, false);
            }
            to.push('}');
        }
        Value::Array(items) => {
            to.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    to.push(',');
                }
                canonical(item, to, false);
            }
            to.push(']');
        }
        plain => {
            let _ = write!(to, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests;
