//! Secrets that are made here: opaque, shown once, and then known by their digest only.

use std::io;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rustix::rand::{GetRandomFlags, getrandom};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// How long a secret is, before it is written as text.
const SECRET_BYTES: usize = 32;

/// A token that was just made. It is shown once; its `Debug` output hides the text.
#[derive(Debug)]
pub struct NewToken(SecretString);

impl NewToken {
    /// A new one. What it begins with tells what it is, should it be left lying about.
    pub(crate) fn mint(prefix: &str) -> io::Result<Self> {
        let mut secret = [0; SECRET_BYTES];
        // So few bytes are given at once or not at all.
        getrandom(&mut secret, GetRandomFlags::empty())?;
        Ok(Self(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(secret)).into()))
    }

    /// What is kept of it.
    pub(crate) fn digest(&self) -> String {
        digest(self.0.expose_secret())
    }
}

impl ExposeSecret<str> for NewToken {
    fn expose_secret(&self) -> &str {
        self.0.expose_secret()
    }
}

/// What is kept of a token. How long it takes to compare two says nothing about the token.
pub(crate) fn digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}
