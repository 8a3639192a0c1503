//! The hub's signing key.

use std::{io, path::Path, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use files::private_file;
use hmac::{Hmac, KeyInit, Mac};
use rustix::rand::GetRandomFlags;
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;

const KEY_BYTES: usize = 32;

/// Separates page keys from other messages that are signed with this key, such as cursors, which begin with bytes that are
/// not text.
const PAGE_KEY: &str = "page key of the cookie ";

/// A secret key that never leaves this hub and survives its restart. Clones share it.
#[derive(Debug, Clone)]
pub struct SigningKey(Arc<SecretBox<[u8; KEY_BYTES]>>);

impl SigningKey {
    /// Reads the key from the file, or creates both.
    ///
    /// # Errors
    /// If the file can be neither read nor written, or does not contain a key.
    pub fn open(path: &Path) -> io::Result<Self> {
        match private_file::read(path)? {
            Some(bytes) => {
                let key = Box::<[u8; KEY_BYTES]>::try_from(bytes)
                    .map_err(|_| io::Error::other("the file does not contain a key"))?;
                Ok(Self(Arc::new(SecretBox::new(key))))
            }
            None => {
                let mut key = Box::new([0; KEY_BYTES]);
                // The kernel returns so few bytes at once or fails.
                rustix::rand::getrandom(&mut key[..], GetRandomFlags::empty())?;
                private_file::write(path, &key[..])?;
                Ok(Self(Arc::new(SecretBox::new(key))))
            }
        }
    }

    /// The page key of a session cookie on this machine. It follows from the cookie, but only the holder of this key can
    /// compute it.
    pub(crate) fn page_key(&self, cookie: &str) -> String {
        let mac = self.mac().chain_update(PAGE_KEY).chain_update(cookie);
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }

    /// Whether `page_key` is the page key of the cookie.
    pub(crate) fn is_page_key(&self, cookie: &str, page_key: &str) -> bool {
        let mac = self.mac().chain_update(PAGE_KEY).chain_update(cookie);
        URL_SAFE_NO_PAD.decode(page_key).is_ok_and(|bytes| mac.verify_slice(&bytes).is_ok())
    }

    /// Starts an authentication code with this key.
    pub fn mac(&self) -> Hmac<Sha256> {
        // HMAC takes a key of any length, so this cannot fail.
        Hmac::new_from_slice(self.0.expose_secret()).unwrap_or_else(|_| Hmac::new(&Default::default()))
    }
}
