//! Describes the daemon: name, health, OpenAPI document and metrics.

use axum::{Json, extract::State, response::Response};
use bytes::Bytes;
use http::header;
use protocol::info::{HealthStatus, ServerInfo};
use server::{RouteCollector, metrics::MetricsFormat, routes};

use super::Problems;
use crate::{api, api_error::Result, app::App};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(about)).add(routes!(health)).add(routes!(openapi)).add(routes!(metrics));
}

/// Describe this server.
#[utoipa::path(get, path = "/", tag = "info", security(()), responses((status = OK, body = ServerInfo), Problems))]
async fn about() -> Json<ServerInfo> {
    Json(ServerInfo {
        name: "tombolo".into(),
        description: "A Tombolo daemon: runs coding agents in this sandbox and serves them over HTTP.".into(),
        openapi: "/v1/openapi.json".into(),
        health: "/v1/health".into(),
    })
}

/// Check that this server is running.
#[utoipa::path(get, path = "/v1/health", tag = "info", security(()), responses((status = OK, body = HealthStatus), Problems))]
async fn health() -> Json<HealthStatus> {
    Json(HealthStatus { status: "ok".into() })
}

/// Read the OpenAPI document.
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "info",
    responses((status = OK, description = "This document", body = Object, content_type = "application/json"), Problems)
)]
async fn openapi() -> ([(header::HeaderName, &'static str); 1], Bytes) {
    ([(header::CONTENT_TYPE, "application/json")], api::OPENAPI.read())
}

/// Read the metrics, in a format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "info",
    responses(
        (status = OK, body = String, content_type = "text/plain",
            description = "The text format 0.0.4; OpenMetrics 1.0 if `Accept` prefers `application/openmetrics-text`"),
        Problems,
    )
)]
async fn metrics(State(app): State<App>, format: MetricsFormat) -> Result<Response> {
    Ok(app.metrics_page(format)?)
}
