//! `/api/tokens`: what lets people into a hub.

use protocol::{
    TokenId, UserName,
    people::{AccessTokenList, CreateTokenRequest, TokenCreated},
};
use reqwest::Method;

use crate::{Answer, Client, Result};

/// The tokens of a hub.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a>(pub(crate) &'a Client);

impl Tokens<'_> {
    /// Every token of a user; our own if none is named.
    pub async fn list(self, user: Option<&UserName>) -> Result<Answer<AccessTokenList>> {
        let user = user.map(UserName::as_str);
        self.0.ask(Method::GET, &["api", "tokens"], &[("user", user)]).await
    }

    /// Makes a token; the answer has its secret.
    pub async fn add(self, add: &CreateTokenRequest) -> Result<Answer<TokenCreated>> {
        self.0.tell(Method::POST, &["api", "tokens"], &[], add).await
    }

    /// Revokes a token.
    pub async fn revoke(self, id: TokenId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["api", "tokens", &id.to_string()], &[]).await
    }
}
