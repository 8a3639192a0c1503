//! The secret of a token: only its digest is kept.

use std::{fmt, io};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

/// How long the secret of a token is.
const SECRET_BYTES: usize = 32;

/// What a token begins with, so that one that was left lying about is known for what it is.
const PREFIX: &str = "tombolo_";

/// A token that was just made: it is shown once.
pub struct NewToken(String);

impl NewToken {
    pub(super) fn random() -> io::Result<Self> {
        let mut secret = [0; SECRET_BYTES];
        // So few bytes are given at once or not at all.
        getrandom(&mut secret, GetRandomFlags::empty())?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(secret))))
    }

    /// The token itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub(super) fn digest(&self) -> String {
        digest(&self.0)
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What is looked up is a digest: how long that takes says nothing about the token.
pub(super) fn digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}
