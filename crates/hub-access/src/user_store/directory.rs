//! All users and tokens at one moment, and the changes to them. Nothing here waits or writes.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;
use protocol::{
    TokenId, UserName,
    hub::Role,
    people::{AccessToken, CreateTokenRequest, UpdateUserRequest, User},
};
use serde::{Deserialize, Serialize};

use super::{BROWSER_SESSION_AGE, NewToken, UserStoreError, token_name};
use crate::{principal::EffectiveRights, state_file::StoredState};

/// How many users there can be: each change writes the whole file.
const USERS_MAX: usize = 10_000;

/// How many tokens a user can have. A new browser session replaces the oldest one at the limit.
const TOKENS_MAX: usize = 100;

/// All users and tokens at one moment.
#[derive(Clone, Default)]
pub struct UserDirectory {
    users: BTreeMap<UserName, Arc<User>>,
    tokens: BTreeMap<TokenId, Arc<TokenEntry>>,
    digests: HashMap<String, TokenId>,
}

/// A token and the digest of its secret.
struct TokenEntry {
    token: Arc<AccessToken>,
    digest: String,
    /// The token that a browser session was started with.
    parent: Option<TokenId>,
}

/// The content of the file.
#[derive(Default, Serialize, Deserialize)]
pub struct StoredUsers {
    users: Vec<User>,
    tokens: Vec<StoredToken>,
}

/// A token in the file.
#[derive(Serialize, Deserialize)]
struct StoredToken {
    #[serde(flatten)]
    token: AccessToken,
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<TokenId>,
}

impl StoredState for UserDirectory {
    type Content = StoredUsers;

    fn from_content(kept: StoredUsers) -> Self {
        let mut state = Self::default();
        state.users.extend(kept.users.into_iter().map(|user| (user.name.clone(), Arc::new(user))));
        for StoredToken { token, digest, parent } in kept.tokens {
            state.insert(TokenEntry { token: Arc::new(token), digest, parent });
        }
        state
    }

    fn to_content(&self) -> StoredUsers {
        let tokens = self.tokens.values().map(|entry| StoredToken {
            token: AccessToken::clone(&entry.token),
            digest: entry.digest.clone(),
            parent: entry.parent,
        });
        StoredUsers { users: self.users(), tokens: tokens.collect() }
    }

    /// Removes expired tokens.
    fn sweep(&mut self, now: Timestamp) {
        self.retain(|entry| entry.is_good(now));
    }
}

impl UserDirectory {
    /// The rights of the token whose secret has this digest.
    pub(super) fn find(&self, digest: &str, now: Timestamp) -> Option<EffectiveRights> {
        self.rights(*self.digests.get(digest)?, now)
    }

    /// When the token whose secret has this digest expired.
    pub(super) fn expired_at(&self, digest: &str, now: Timestamp) -> Option<Timestamp> {
        let entry = self.tokens.get(self.digests.get(digest)?)?;
        entry.token.expires_at.filter(|at| *at <= now)
    }

    /// The rights of a token; `None` if it has expired or does not exist.
    pub fn rights(&self, id: TokenId, now: Timestamp) -> Option<EffectiveRights> {
        let entry = self.tokens.get(&id).filter(|entry| entry.is_good(now))?;
        let user = self.users.get(&entry.token.user)?;
        Some(EffectiveRights { user: user.clone(), token: entry.token.clone() })
    }

    /// Whether an administrator has a token, other than a browser session.
    pub(super) fn can_be_managed(&self, now: Timestamp) -> bool {
        let mut all = self.tokens.keys().filter_map(|id| self.rights(*id, now));
        all.any(|rights| rights.is_admin() && !rights.token.is_session)
    }

    /// Adds a token for the first administrator, or for a new administrator `owner` if there is none.
    pub(super) fn add_admin_token(&mut self, digest: &str, name: &str, now: Timestamp) {
        let first = self.users.values().find(|user| user.is_admin).map(|user| user.name.clone());
        let user = first.unwrap_or_else(|| {
            let name: UserName = "owner".parse().unwrap_or_else(|_| unreachable!("the name of a user"));
            let set =
                UpdateUserRequest { is_admin: true, default_role: Some(Role::Owner), roles: BTreeMap::new() };
            self.users.insert(name.clone(), Arc::new(user(name.clone(), set, now)));
            name
        });
        let token = AccessToken {
            id: TokenId::mint(),
            user,
            name: token_name(name),
            scope: None,
            is_session: false,
            created_at: now,
            expires_at: None,
        };
        self.insert(TokenEntry { token: Arc::new(token), digest: digest.to_owned(), parent: None });
    }

    pub(super) fn users(&self) -> Vec<User> {
        self.users.values().map(|user| User::clone(user)).collect()
    }

    pub(super) fn user(&self, name: &UserName) -> Result<&User, UserStoreError> {
        self.users.get(name).map(|user| &**user).ok_or_else(|| UserStoreError::NoUser(name.clone()))
    }

    pub(super) fn add_user(
        &mut self,
        name: UserName,
        set: UpdateUserRequest,
        now: Timestamp,
    ) -> Result<User, UserStoreError> {
        if self.users.contains_key(&name) {
            return Err(UserStoreError::UserTaken(name));
        }
        if self.users.len() >= USERS_MAX {
            return Err(UserStoreError::Full { what: "users", max: USERS_MAX });
        }
        let user = user(name, set, now);
        self.users.insert(user.name.clone(), Arc::new(user.clone()));
        Ok(user)
    }

    pub(super) fn set_user(
        &mut self,
        name: &UserName,
        set: UpdateUserRequest,
    ) -> Result<User, UserStoreError> {
        let created_at = self.user(name)?.created_at;
        if !set.is_admin {
            self.need_another_admin(name)?;
        }
        let user = user(name.clone(), set, created_at);
        self.users.insert(name.clone(), Arc::new(user.clone()));
        Ok(user)
    }

    pub(super) fn remove_user(&mut self, name: &UserName) -> Result<(), UserStoreError> {
        self.user(name)?;
        self.need_another_admin(name)?;
        self.users.remove(name);
        self.retain(|entry| entry.token.user != *name);
        Ok(())
    }

    fn need_another_admin(&self, name: &UserName) -> Result<(), UserStoreError> {
        let is_admin = self.users.get(name).is_some_and(|user| user.is_admin);
        if is_admin && !self.users.values().any(|user| user.is_admin && user.name != *name) {
            return Err(UserStoreError::LastAdmin(name.clone()));
        }
        Ok(())
    }

    pub(super) fn tokens(&self, user: &UserName, now: Timestamp) -> Result<Vec<AccessToken>, UserStoreError> {
        self.user(user)?;
        let theirs = self.of(user).filter(|entry| entry.is_good(now));
        Ok(theirs.map(|entry| AccessToken::clone(&entry.token)).collect())
    }

    pub(super) fn token(&self, id: TokenId) -> Result<AccessToken, UserStoreError> {
        self.tokens.get(&id).map(|entry| AccessToken::clone(&entry.token)).ok_or(UserStoreError::NoToken(id))
    }

    pub(super) fn add_token(
        &mut self,
        user: &UserName,
        add: CreateTokenRequest,
        new: &NewToken,
        now: Timestamp,
    ) -> Result<AccessToken, UserStoreError> {
        self.user(user)?;
        let CreateTokenRequest { name, scope, expires_at, .. } = add;
        if expires_at.is_some_and(|at| at <= now) {
            return Err(UserStoreError::Expired);
        }
        if self.of(user).count() >= TOKENS_MAX {
            return Err(UserStoreError::Full { what: "tokens of this user", max: TOKENS_MAX });
        }
        let (id, user) = (TokenId::mint(), user.clone());
        let token = AccessToken { id, user, name, scope, is_session: false, created_at: now, expires_at };
        self.insert(TokenEntry { token: Arc::new(token.clone()), digest: new.digest(), parent: None });
        Ok(token)
    }

    pub(super) fn revoke(&mut self, id: TokenId) -> Result<(), UserStoreError> {
        self.token(id)?;
        self.retain(|entry| entry.token.id != id);
        Ok(())
    }

    pub(super) fn log_in(
        &mut self,
        digest: &str,
        new: &NewToken,
        now: Timestamp,
    ) -> Result<EffectiveRights, UserStoreError> {
        // A browser session cannot be prolonged by logging in with it again.
        let theirs = self.find(digest, now).filter(|rights| !rights.token.is_session);
        let EffectiveRights { user, token: theirs } = theirs.ok_or(UserStoreError::NotLetIn)?;
        if self.of(&user.name).count() >= TOKENS_MAX {
            let oldest = self.of(&user.name).find(|entry| entry.token.is_session);
            let oldest = oldest.map(|entry| entry.token.id);
            self.revoke(
                oldest.ok_or(UserStoreError::Full { what: "tokens of this user", max: TOKENS_MAX })?,
            )?;
        }
        let ends = now + BROWSER_SESSION_AGE;
        let token = Arc::new(AccessToken {
            id: TokenId::mint(),
            user: user.name.clone(),
            name: token_name("browser"),
            scope: theirs.scope.clone(),
            is_session: true,
            created_at: now,
            expires_at: Some(theirs.expires_at.map_or(ends, |at| at.min(ends))),
        });
        self.insert(TokenEntry { token: token.clone(), digest: new.digest(), parent: Some(theirs.id) });
        Ok(EffectiveRights { user, token })
    }

    fn of(&self, user: &UserName) -> impl Iterator<Item = &TokenEntry> {
        self.tokens.values().map(|entry| &**entry).filter(move |entry| entry.token.user == *user)
    }

    fn insert(&mut self, entry: TokenEntry) {
        self.digests.insert(entry.digest.clone(), entry.token.id);
        self.tokens.insert(entry.token.id, Arc::new(entry));
    }

    /// Keeps the matching tokens, and of the browser sessions only those whose parent is kept.
    fn retain(&mut self, keep: impl Fn(&TokenEntry) -> bool) {
        self.tokens.retain(|_, entry| keep(entry));
        let parents: BTreeSet<TokenId> = self.tokens.keys().copied().collect();
        self.tokens.retain(|_, entry| entry.parent.is_none_or(|parent| parents.contains(&parent)));
        self.digests.retain(|_, id| self.tokens.contains_key(id));
    }
}

impl TokenEntry {
    fn is_good(&self, now: Timestamp) -> bool {
        self.token.expires_at.is_none_or(|at| at > now)
    }
}

fn user(name: UserName, set: UpdateUserRequest, created_at: Timestamp) -> User {
    let UpdateUserRequest { is_admin, default_role, roles } = set;
    User { name, is_admin, default_role, roles, created_at }
}
