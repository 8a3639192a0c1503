//! Who may use the hub: opaque tokens, of which only a digest is kept.

use std::{collections::HashMap, io, path::PathBuf};

use jiff::Timestamp;
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

use protocol::{TokenId, UserName, hub::Role};

use crate::{
    caller::Caller,
    private,
    secret::{NewToken, digest},
};

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
        let all = self.all.read();
        let Entry { id, user, role, .. } = all.get(&digest(token))?;
        Some(Caller { user: user.clone(), token: *id, role: *role })
    }

    fn make(&self, user: UserName, role: Role) -> io::Result<NewToken> {
        let token = NewToken::mint(PREFIX)?;
        let (id, digest, created_at) = (TokenId::mint(), digest(token.reveal()), Timestamp::now());
        let entry = Entry { id, user, role, digest, created_at };
        let mut all = self.all.write();
        let mut next = all.clone();
        next.insert(entry.digest.clone(), entry);
        private::write(&self.path, &next.values().collect::<Vec<_>>())?;
        *all = next;
        Ok(token)
    }
}

/// Who the first token is for.
fn first_user() -> UserName {
    "owner".parse().unwrap_or_else(|_| unreachable!("the name of a user"))
}
