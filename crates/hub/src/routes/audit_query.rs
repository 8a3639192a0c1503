//! The query parameters of the audit logs.

use protocol::ProblemKind;
use serde::Deserialize;
use server::{ProblemResponse, Result};
use utoipa::IntoParams;

/// Maximum number of entries in a page.
const PAGE_MAX: usize = 1000;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Return entries after this `nextCursor` or `seq`; if left out, start at the oldest retained entry.
    #[serde(default, alias = "offset")]
    #[param(value_type = Option<String>, pattern = "^[0-9]{1,20}$")]
    pub(crate) cursor: u64,
    /// Maximum number of entries to return.
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    limit: Option<usize>,
}

impl AuditQuery {
    /// Maximum number of entries to return.
    pub(crate) fn limit(&self) -> Result<usize> {
        let limit = self.limit.unwrap_or(PAGE_MAX);
        if (1..=PAGE_MAX).contains(&limit) {
            return Ok(limit);
        }
        let detail = format!("`limit` must be between 1 and {PAGE_MAX}");
        Err(ProblemResponse::new(ProblemKind::InvalidRequest, detail))
    }
}
