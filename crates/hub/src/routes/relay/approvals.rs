//! `/api/v1/relay/approvals`: what was approved for more than once.

use axum::extract::State;
use http::StatusCode;
use protocol::WaitId;
use server::{Result, RouteCollector, extract::Path, routes};

use super::refused;
use crate::{app::App, routes::Problems};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(forget));
}

/// Revoke a remembered approval. The next such request needs a new approval.
#[utoipa::path(
    delete, path = "/api/v1/relay/approvals/{wait_id}", tag = "relay",
    params(("wait_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The approval's id")),
    responses((status = NO_CONTENT, description = "Removed"), Problems)
)]
async fn forget(State(app): State<App>, Path(id): Path<WaitId>) -> Result<StatusCode> {
    app.relay.store.change(|state, _| state.forget(id)).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}
