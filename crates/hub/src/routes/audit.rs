//! `/api/audit`: what was done through the hub; for those who manage it.

use axum::{Json, extract::State};
use protocol::audit::AuditPage;
use server::{ProblemResponse, Result, RouteCollector, extract::Query, routes};

use super::{Problems, audit_query::AuditQuery};
use crate::app::App;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(page));
}

/// List audit entries after `cursor`: every change, every command to a runtime, every rejected request.
#[utoipa::path(get, path = "/api/audit", tag = "audit", params(AuditQuery), responses((status = OK, body = AuditPage), Problems))]
async fn page(State(app): State<App>, Query(query): Query<AuditQuery>) -> Result<Json<AuditPage>> {
    let page = app.access.audit.page(query.cursor, query.limit()?).await;
    page.map(Json).map_err(|error| ProblemResponse::internal(&error))
}
