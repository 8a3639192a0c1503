//! `/api/audit`: what was done through a hub.

use protocol::audit::AuditPage;
use reqwest::Method;

use crate::{Answer, Client, Result};

/// What was done through a hub.
#[derive(Debug, Clone, Copy)]
pub struct Audit<'a>(pub(crate) &'a Client);

impl Audit<'_> {
    /// What was done after `offset`.
    pub async fn page(self, offset: u64, limit: Option<u32>) -> Result<Answer<AuditPage>> {
        let (offset, limit) = (offset.to_string(), limit.map(|limit| limit.to_string()));
        let query = [("offset", Some(offset.as_str())), ("limit", limit.as_deref())];
        self.0.ask(Method::GET, &["api", "audit"], &query).await
    }
}
