//! `/api/v1/relay/audit`: what was asked of devices; for those who manage the hub.

use axum::{Json, extract::State};
use protocol::lending::RelayAuditPage;
use server::{ProblemResponse, Result, RouteCollector, extract::Query, routes};

use crate::{
    app::App,
    routes::{Problems, audit_query::AuditQuery},
};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(audit));
}

/// List device audit entries after `cursor`. Each entry contains the hash of the previous one.
#[utoipa::path(
    get, path = "/api/v1/relay/audit", tag = "relay", params(AuditQuery),
    responses((status = OK, body = RelayAuditPage), Problems)
)]
async fn audit(State(app): State<App>, Query(query): Query<AuditQuery>) -> Result<Json<RelayAuditPage>> {
    let page = app.relay.ledger.page(query.cursor, query.limit()?).await;
    page.map(Json).map_err(|error| ProblemResponse::internal(&error))
}
