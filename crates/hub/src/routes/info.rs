//! What a hub says of itself.

use axum::Json;
use protocol::info::Health;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::Problems;
use crate::app::App;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(health))
}

/// Say whether this server is well.
#[utoipa::path(get, path = "/api/health", tag = "info", security(()), responses((status = OK, body = Health), Problems))]
async fn health() -> Json<Health> {
    Json(Health { status: "ok".into() })
}
