//! `/api/audit`: what was done through the hub; for those who manage it.

use axum::{Json, extract::State};
use protocol::{ProblemKind, audit::AuditPage};
use serde::Deserialize;
use server::{ProblemResponse, Result, extract::Query};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::Problems;
use crate::app::App;

/// Maximum number of entries to return.
const PAGE_MAX: usize = 1000;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(page))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// Return entries after this `nextCursor` or `seq`; if left out, start at the oldest retained entry.
    #[serde(default, alias = "offset")]
    #[param(value_type = Option<String>, pattern = "^[0-9]{1,20}$")]
    cursor: u64,
    /// Maximum number of entries to return.
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    limit: Option<usize>,
}

/// List audit entries after `cursor`: every change, every command to a runtime, every rejected request.
#[utoipa::path(get, path = "/api/audit", tag = "audit", params(PageQuery), responses((status = OK, body = AuditPage), Problems))]
async fn page(State(app): State<App>, Query(query): Query<PageQuery>) -> Result<Json<AuditPage>> {
    let limit = query.limit.unwrap_or(PAGE_MAX);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(ProblemResponse::new(
            ProblemKind::InvalidRequest,
            format!("`limit` must be between 1 and {PAGE_MAX}"),
        ));
    }
    app.audit.page(query.cursor, limit).await.map(Json).map_err(|error| ProblemResponse::internal(&error))
}
