//! `/api/grants`: what devices may offer and runtimes may use.

use axum::{Json, extract::State};
use http::StatusCode;
use hub_access::{AuthorizedJson, Principal, runtime_not_found};
use jiff::Timestamp;
use protocol::{
    GrantId,
    lending::{CreateGrantRequest, GrantList},
    relay::Grant,
};
use server::{Result, RouteCollector, extract::Path, routes};

use super::{
    Problems,
    relay::{not_added, refused},
};
use crate::app::App;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list, add)).add(routes!(remove));
}

/// List the grants for devices of the caller's workspaces, oldest first.
#[utoipa::path(get, path = "/api/grants", tag = "grants", responses((status = OK, body = GrantList), Problems))]
async fn list(State(app): State<App>, caller: Principal) -> Json<GrantList> {
    let state = app.relay.store.now();
    let is_seen =
        |grant: &Grant| state.device(&grant.client_id).is_ok_and(|device| caller.sees(&device.workspace));
    let seen = state.grants(Timestamp::now()).map(|entry| &entry.grant).filter(|grant| is_seen(grant));
    Json(GrantList { items: seen.cloned().collect(), next_cursor: None })
}

/// Grant a runtime the use of a device. Only what the request names is granted.
#[utoipa::path(
    post, path = "/api/grants", tag = "grants", request_body = CreateGrantRequest,
    responses((status = CREATED, body = Grant), Problems)
)]
async fn add(
    State(app): State<App>,
    AuthorizedJson(add): AuthorizedJson<CreateGrantRequest>,
) -> Result<(StatusCode, Json<Grant>)> {
    let state = app.relay.store.now();
    let device = state.device(&add.client_id).map_err(|error| refused(&error))?;
    // The caller's role is in the workspace of the device. A runtime of another workspace does not exist there.
    if app.registry.get(&add.runtime_id).is_none_or(|runtime| runtime.workspace != device.workspace) {
        return Err(runtime_not_found(&add.runtime_id));
    }
    let grant = app.relay.add_grant(add).map_err(|error| not_added(&error))?;
    Ok((StatusCode::CREATED, Json(grant)))
}

/// Revoke a grant. Requests that depend on it are ended.
#[utoipa::path(
    delete, path = "/api/grants/{grant_id}", tag = "grants",
    params(("grant_id" = String, Path, pattern = "^grt_[0-9a-f]{32}$", description = "The grant")),
    responses((status = NO_CONTENT, description = "Grant revoked"), Problems)
)]
async fn remove(State(app): State<App>, Path(id): Path<GrantId>) -> Result<StatusCode> {
    app.relay.store.change(|state, _| state.remove_grant(id)).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}
