//! `/api/audit`: the audit log of a hub.

use protocol::audit::AuditPage;
use reqwest::Method;

use crate::{ApiResponse, Client, Result};

/// The audit log of a hub.
#[derive(Debug, Clone, Copy)]
pub struct AuditApi<'a>(pub(crate) &'a Client);

impl AuditApi<'_> {
    /// Reads the entries after the one with the sequence number `after`.
    pub async fn page(self, after: u64, limit: Option<u32>) -> Result<ApiResponse<AuditPage>> {
        let cursor = after.to_string();
        let limit = limit.map(|limit| limit.to_string());
        let query = [("cursor", Some(cursor.as_str())), ("limit", limit.as_deref())];
        self.0.call(Method::GET, &["api", "audit"], &query).await
    }
}
