//! What a hub says of itself.

use axum::{Json, extract::State, response::Response};
use bytes::Bytes;
use http::header;
use protocol::info::HealthStatus;
use server::{Result, RouteCollector, metrics::MetricsFormat, routes};

use super::Problems;
use crate::{api, app::App};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(health)).add(routes!(openapi)).add(routes!(metrics));
}

/// Check the health of the hub.
#[utoipa::path(get, path = "/api/health", tag = "info", security(()), responses((status = OK, body = HealthStatus), Problems))]
async fn health() -> Json<HealthStatus> {
    Json(HealthStatus { status: "ok".into() })
}

/// Read the OpenAPI document of the hub.
#[utoipa::path(
    get, path = "/api/openapi.json", tag = "info",
    responses((status = OK, description = "This document", body = Object, content_type = "application/json"), Problems)
)]
async fn openapi() -> ([(header::HeaderName, &'static str); 1], Bytes) {
    ([(header::CONTENT_TYPE, "application/json")], api::OPENAPI.read())
}

/// Get metrics for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "info",
    responses(
        (status = OK, body = String, content_type = "text/plain",
            description = "The text format 0.0.4; OpenMetrics 1.0 if `Accept` prefers `application/openmetrics-text`"),
        Problems,
    )
)]
async fn metrics(State(app): State<App>, format: MetricsFormat) -> Result<Response> {
    app.metrics_page(format)
}
