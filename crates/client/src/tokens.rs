//! `/api/tokens`: the tokens of a hub's users.

use protocol::{
    TokenId, UserName,
    people::{AccessTokenList, CreateTokenRequest, TokenCreated},
};
use reqwest::Method;

use crate::{ApiResponse, Client, Result};

/// The tokens of a hub.
#[derive(Debug, Clone, Copy)]
pub struct TokensApi<'a>(pub(crate) &'a Client);

impl TokensApi<'_> {
    /// Lists the tokens of a user; the caller's own if `None`.
    pub async fn list(self, user: Option<&UserName>) -> Result<ApiResponse<AccessTokenList>> {
        let user = user.map(UserName::as_str);
        self.0.call(Method::GET, &["api", "tokens"], &[("user", user)]).await
    }

    /// Creates a token. The response has its secret.
    pub async fn add(self, add: &CreateTokenRequest) -> Result<ApiResponse<TokenCreated>> {
        self.0.call_with_body(Method::POST, &["api", "tokens"], &[], add).await
    }

    /// Revokes a token.
    pub async fn revoke(self, id: TokenId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["api", "tokens", &id.to_string()], &[]).await
    }
}
