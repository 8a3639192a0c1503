//! Who may use the hub: opaque tokens, of which only a digest is kept.

use std::{collections::HashMap, fmt, io, path::PathBuf};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use parking_lot::RwLock;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use protocol::{TokenId, UserName, hub::Role};

use crate::{caller::Caller, private};

/// How long the secret of a token is.
const SECRET_BYTES: usize = 32;

/// What a token begins with, so that one that was left lying about is known for what it is.
const PREFIX: &str = "tombolo_";

/// The tokens that let somebody in.
pub(crate) struct Tokens {
    path: PathBuf,
    all: RwLock<HashMap<String, Entry>>,
}

/// A token as the file has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: TokenId,
    user: UserName,
    role: Role,
    digest: String,
    created_at: Timestamp,
}

/// A token that was just made: it is shown once.
pub struct NewToken(String);

impl NewToken {
    /// The token itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Tokens {
    /// Reads the file; the first time one token is made, which is shown once.
    pub(crate) fn open(path: PathBuf) -> io::Result<(Self, Option<NewToken>)> {
        let entries: Vec<Entry> = private::read(&path)?;
        let first = entries.is_empty();
        let all = entries.into_iter().map(|entry| (entry.digest.clone(), entry)).collect();
        let tokens = Self { path, all: RwLock::new(all) };
        let new = if first { Some(tokens.make(first_user(), Role::Owner)?) } else { None };
        Ok((tokens, new))
    }

    /// Whose token this is.
    pub(crate) fn find(&self, token: &str) -> Option<Caller> {
        // What is looked up is a digest: how long that takes says nothing about the token.
        let all = self.all.read();
        let Entry { id, user, role, .. } = all.get(&digest(token))?;
        Some(Caller { user: user.clone(), token: *id, role: *role })
    }

    fn make(&self, user: UserName, role: Role) -> io::Result<NewToken> {
        let mut secret = [0; SECRET_BYTES];
        // So few bytes are given at once or not at all.
        getrandom(&mut secret, GetRandomFlags::empty())?;
        let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(secret));
        let entry =
            Entry { id: TokenId::mint(), user, role, digest: digest(&token), created_at: Timestamp::now() };
        let mut all = self.all.write();
        let mut next = all.clone();
        next.insert(entry.digest.clone(), entry);
        private::write(&self.path, &next.values().collect::<Vec<_>>())?;
        *all = next;
        Ok(NewToken(token))
    }
}

/// Who the first token is for.
fn first_user() -> UserName {
    "owner".parse().unwrap_or_else(|_| unreachable!("the name of a user"))
}

fn digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}
