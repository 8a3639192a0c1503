//! Checksums: as they are published, and as they are found.

use std::{fmt, io::Read, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::Fault;

/// How much is hashed at a time.
const PIECE_BYTES: usize = 256 << 10;

/// A checksum as it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checksum {
    algorithm: Algorithm,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Algorithm {
    Sha1,
    Sha256,
    Sha512,
}

impl Algorithm {
    const ALL: [(Algorithm, &'static str, usize); 3] =
        [(Algorithm::Sha1, "sha1", 20), (Algorithm::Sha256, "sha256", 32), (Algorithm::Sha512, "sha512", 64)];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(algorithm, ..)| *algorithm == self).map_or("", |(_, name, _)| name)
    }
}

impl Checksum {
    /// A SHA-256 in hexadecimal, with or without its name in front.
    pub(crate) fn sha256(text: &str) -> Result<Self, Fault> {
        let hex = text.trim().trim_start_matches("sha256:");
        let bytes = unhex(hex).filter(|bytes| bytes.len() == 32);
        let bytes = bytes.ok_or_else(|| Fault::Answer("the published checksum is not SHA-256".into()))?;
        Ok(Self { algorithm: Algorithm::Sha256, bytes })
    }

    /// What the catalog pins for an npm package: `dist.integrity` of the registry.
    pub(crate) fn pinned_npm(integrity: &str) -> Result<Self, Fault> {
        Self::npm(Some(integrity), None)
            .ok_or_else(|| Fault::Answer(format!("the catalog pins `{integrity}`, which is not a checksum")))
    }

    /// What npm publishes: the strongest of `dist.integrity`, or else `dist.shasum`.
    pub(crate) fn npm(integrity: Option<&str>, shasum: Option<&str>) -> Option<Self> {
        let entries = integrity.unwrap_or_default().split_whitespace().filter_map(|entry| {
            let (name, value) = entry.split('?').next()?.split_once('-')?;
            let (algorithm, _, length) = *Algorithm::ALL.iter().find(|(_, known, _)| *known == name)?;
            let bytes = STANDARD.decode(value).ok().filter(|bytes| bytes.len() == length)?;
            Some(Self { algorithm, bytes })
        });
        let shasum = || {
            let bytes = unhex(shasum?).filter(|bytes| bytes.len() == 20)?;
            Some(Self { algorithm: Algorithm::Sha1, bytes })
        };
        entries.max_by_key(|entry| entry.algorithm).or_else(shasum)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.name(), hex(&self.bytes))
    }
}

/// Finds the checksum of what passes: SHA-256 always, and whatever else was published.
#[derive(Clone)]
pub(crate) struct Hasher {
    sha256: Sha256,
    other: Option<Other>,
}

#[derive(Clone)]
enum Other {
    Sha1(Sha1),
    Sha512(Sha512),
}

impl Hasher {
    /// For what should have the checksum `expected`.
    pub(crate) fn new(expected: Option<&Checksum>) -> Self {
        let other = match expected.map(|expected| expected.algorithm) {
            Some(Algorithm::Sha1) => Some(Other::Sha1(Sha1::new())),
            Some(Algorithm::Sha512) => Some(Other::Sha512(Sha512::new())),
            Some(Algorithm::Sha256) | None => None,
        };
        Self { sha256: Sha256::new(), other }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        match &mut self.other {
            Some(Other::Sha1(hasher)) => hasher.update(bytes),
            Some(Other::Sha512(hasher)) => hasher.update(bytes),
            None => {}
        }
    }

    /// Takes everything that is left in `reader`.
    pub(crate) fn read(&mut self, mut reader: impl Read) -> std::io::Result<u64> {
        let mut buffer = vec![0; PIECE_BYTES];
        let mut total = 0;
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(total),
                count => {
                    self.update(&buffer[..count]);
                    total += count as u64;
                }
            }
        }
    }

    /// The SHA-256 in hexadecimal, if everything is as it was published.
    pub(crate) fn finish(self, expected: Option<&Checksum>) -> Result<String, Fault> {
        let sha256 = self.sha256.finalize().to_vec();
        let Some(expected) = expected else { return Ok(hex(&sha256)) };
        let found = match self.other {
            Some(Other::Sha1(hasher)) => hasher.finalize().to_vec(),
            Some(Other::Sha512(hasher)) => hasher.finalize().to_vec(),
            None => sha256.clone(),
        };
        if found != expected.bytes {
            let found = Checksum { algorithm: expected.algorithm, bytes: found };
            return Err(Fault::Checksum { expected: expected.to_string(), found: found.to_string() });
        }
        Ok(hex(&sha256))
    }
}

/// The SHA-256 of a file, in hexadecimal, if the file also has the checksum `expected`.
pub(crate) fn of_file(path: &Path, expected: Option<&Checksum>) -> Result<String, Fault> {
    let mut hasher = Hasher::new(expected);
    let file = std::fs::File::open(path).map_err(Fault::local("open the file"))?;
    hasher.read(file).map_err(Fault::local("read the file"))?;
    hasher.finish(expected)
}

/// The SHA-256 of a text, in hexadecimal: a name for whatever the text names.
pub(crate) fn of_text(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // a text takes everything
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY_SHA512: &str =
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==";

    #[test]
    fn the_strongest_checksum_that_npm_publishes_is_taken() {
        let integrity = format!("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= {EMPTY_SHA512}");
        let both = Checksum::npm(Some(&integrity), Some("da39a3ee5e6b4b0d3255bfef95601890afd80709")).unwrap();
        assert!(both.to_string().starts_with("sha512:cf83e1357eefb8bd"), "{both}");
        let old = Checksum::npm(None, Some("da39a3ee5e6b4b0d3255bfef95601890afd80709")).unwrap();
        assert_eq!(old.to_string(), "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(Checksum::npm(Some("md5-xx sha512-short"), None), None);
    }

    #[test]
    fn what_differs_is_told_with_both_checksums() {
        for expected in
            [Checksum::npm(Some(EMPTY_SHA512), None).unwrap(), Checksum::sha256(&of_text("")).unwrap()]
        {
            assert!(Hasher::new(Some(&expected)).finish(Some(&expected)).is_ok());
            let mut hasher = Hasher::new(Some(&expected));
            hasher.update(b"x");
            let Err(Fault::Checksum { .. }) = hasher.finish(Some(&expected)) else { panic!("{expected}") };
        }
        assert!(Checksum::sha256("sha256:00").is_err() && Checksum::sha256("ä").is_err());
    }
}
