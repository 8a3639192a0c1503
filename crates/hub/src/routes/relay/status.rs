//! `/api/v1/relay/status`: how it is with everything that is lent.

use axum::{Json, extract::State};
use http::StatusCode;
use protocol::{
    WorkspaceName,
    lending::{RelayStatus, SetWorkspaceRelayRequest, WorkspaceRelaySettings},
};
use server::{Result, RouteCollector, extract, extract::Path, routes};

use super::refused;
use crate::{app::App, routes::Problems};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(status)).add(routes!(set));
}

/// Get the state of the relay: connections, granted capabilities, open approvals, recent errors and the head of the audit log.
#[utoipa::path(
    get, path = "/api/v1/relay/status", tag = "relay",
    responses((status = OK, body = RelayStatus), Problems)
)]
async fn status(State(app): State<App>) -> Json<RelayStatus> {
    Json(app.relay.status())
}

/// Turn devices on or off in a workspace. Turning them off disconnects all of its devices.
#[utoipa::path(
    put, path = "/api/workspaces/{workspace}/relay", tag = "relay", request_body = SetWorkspaceRelayRequest,
    params(("workspace" = String, Path, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description = "The workspace")),
    responses((status = OK, body = WorkspaceRelaySettings), Problems)
)]
async fn set(
    State(app): State<App>,
    Path(workspace): Path<WorkspaceName>,
    extract::Json(SetWorkspaceRelayRequest { enabled }): extract::Json<SetWorkspaceRelayRequest>,
) -> Result<(StatusCode, Json<WorkspaceRelaySettings>)> {
    app.relay.store.set_enabled(&workspace, enabled).map_err(|error| refused(&error))?;
    Ok((StatusCode::OK, Json(WorkspaceRelaySettings { workspace, enabled })))
}
