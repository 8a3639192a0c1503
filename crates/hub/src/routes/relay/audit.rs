//! `/api/v1/relay/audit`: what was asked of devices; for those who manage the hub.

use axum::{Json, extract::State};
use protocol::{ProblemKind, lending::RelayAuditPage};
use serde::Deserialize;
use server::{ProblemResponse, Result, extract::Query};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{app::App, routes::Problems};

/// Maximum number of entries to return.
const PAGE_MAX: usize = 1000;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(audit))
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

/// List device audit entries after `cursor`. Each entry contains the hash of the previous one.
#[utoipa::path(
    get, path = "/api/v1/relay/audit", tag = "relay", params(PageQuery),
    responses((status = OK, body = RelayAuditPage), Problems)
)]
async fn audit(State(app): State<App>, Query(query): Query<PageQuery>) -> Result<Json<RelayAuditPage>> {
    let limit = query.limit.unwrap_or(PAGE_MAX);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(ProblemResponse::new(
            ProblemKind::InvalidRequest,
            format!("`limit` must be between 1 and {PAGE_MAX}"),
        ));
    }
    app.relay
        .ledger
        .page(query.cursor, limit)
        .await
        .map(Json)
        .map_err(|error| ProblemResponse::internal(&error))
}
