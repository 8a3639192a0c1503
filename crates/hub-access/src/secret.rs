//! Secrets that the hub creates: random, shown once, and stored as a digest only.

use std::io;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rustix::rand::{GetRandomFlags, getrandom};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// The length of a secret before it is encoded as text.
const SECRET_BYTES: usize = 32;

/// A token that was just created. It is shown once; its `Debug` output hides the text.
#[derive(Debug)]
pub struct NewToken(SecretString);

impl NewToken {
    /// Creates a token. The prefix identifies a token that was leaked.
    pub fn mint(prefix: &str) -> io::Result<Self> {
        let mut secret = [0; SECRET_BYTES];
        // The kernel returns so few bytes at once or fails.
        getrandom(&mut secret, GetRandomFlags::empty())?;
        Ok(Self(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(secret)).into()))
    }

    /// The digest that is stored.
    pub fn digest(&self) -> String {
        token_digest(self.0.expose_secret())
    }
}

impl ExposeSecret<str> for NewToken {
    fn expose_secret(&self) -> &str {
        self.0.expose_secret()
    }
}

/// The digest of a token that is stored. The time that a comparison of digests takes reveals nothing about the token.
pub fn token_digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}
