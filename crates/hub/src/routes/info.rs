//! What a hub says of itself.

use axum::{Json, extract::State, response::Response};
use protocol::info::HealthStatus;
use server::{Result, RouteCollector, routes};

use super::Problems;
use crate::app::App;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(health)).add(routes!(metrics));
}

/// Check the health of the hub.
#[utoipa::path(get, path = "/api/health", tag = "info", security(()), responses((status = OK, body = HealthStatus), Problems))]
async fn health() -> Json<HealthStatus> {
    Json(HealthStatus { status: "ok".into() })
}

/// Get metrics for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "info",
    responses((status = OK, description = "OpenMetrics", body = String, content_type = "application/openmetrics-text"), Problems)
)]
async fn metrics(State(app): State<App>) -> Result<Response> {
    app.metrics_page()
}
