//! `/api/v1/relay/approvals`: what was approved for more than once.

use axum::extract::State;
use http::StatusCode;
use hub_access::Principal;
use protocol::{WaitId, WorkspaceName, hub::Role};
use server::{Result, RouteCollector, extract::Path, routes};

use super::{need_of, refused};
use crate::{app::App, relay::store::Error, routes::Problems};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(forget));
}

/// Revoke a remembered approval. The next such request needs a new approval.
#[utoipa::path(
    delete, path = "/api/v1/relay/approvals/{wait_id}", tag = "relay",
    params(("wait_id" = String, Path, pattern = "^wat_[0-9a-f]{32}$", description = "The approval's id")),
    responses((status = NO_CONTENT, description = "Removed"), Problems)
)]
async fn forget(State(app): State<App>, caller: Principal, Path(id): Path<WaitId>) -> Result<StatusCode> {
    let state = app.relay.store.now();
    let approved = state.remembered().find(|approved| approved.id == id);
    let approved = approved.ok_or_else(|| refused(&Error::NotRemembered(id)))?;
    let workspace = state.device(&approved.client_id).map(|device| device.workspace.clone());
    let workspace = workspace.unwrap_or_else(|_| WorkspaceName::default());
    need_of(&caller, &workspace, Role::Controller, &Error::NotRemembered(id))?;
    app.relay.store.change(|state, _| state.forget(id)).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}
