//! `/api/audit`: what was done through a hub.

use protocol::audit::AuditPage;
use reqwest::Method;

use crate::{Answer, Client, Result};

/// What was done through a hub.
#[derive(Debug, Clone, Copy)]
pub struct Audit<'a>(pub(crate) &'a Client);

impl Audit<'_> {
    /// Reads the entries after the one with the sequence number `after`.
    pub async fn page(self, after: u64, limit: Option<u32>) -> Result<Answer<AuditPage>> {
        let cursor = after.to_string();
        let limit = limit.map(|limit| limit.to_string());
        let query = [("cursor", Some(cursor.as_str())), ("limit", limit.as_deref())];
        self.0.ask(Method::GET, &["api", "audit"], &query).await
    }
}
