//! `/api/grants`: what devices may offer and runtimes may use.

use axum::{Json, extract::State};
use http::StatusCode;
use hub_access::{Principal, runtime_not_found};
use jiff::Timestamp;
use protocol::{
    GrantId,
    hub::Role,
    lending::{CreateGrantRequest, GrantList},
    relay::Grant,
};
use server::{Result, RouteCollector, extract, extract::Path, routes};

use super::{
    Problems,
    relay::{need_of, not_added, refused},
};
use crate::{app::App, relay::store::Error};

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
    caller: Principal,
    extract::Json(add): extract::Json<CreateGrantRequest>,
) -> Result<(StatusCode, Json<Grant>)> {
    check(&app, &caller, &add)?;
    let grant = app.relay.add_grant(add).map_err(|error| not_added(&error))?;
    Ok((StatusCode::CREATED, Json(grant)))
}

/// Whether somebody may grant this: both are in a workspace that they own.
pub(super) fn check(app: &App, caller: &Principal, add: &CreateGrantRequest) -> Result<()> {
    let state = app.relay.store.now();
    let device = state.device(&add.client_id).map_err(|error| refused(&error))?;
    need_of(caller, &device.workspace, Role::Owner, &Error::NoDevice(add.client_id.clone()))?;
    let runtime = app.registry.get(&add.runtime_id);
    match runtime.is_some_and(|runtime| runtime.workspace == device.workspace) {
        true => Ok(()),
        false => Err(runtime_not_found(&add.runtime_id)),
    }
}

/// Revoke a grant. Requests that depend on it are ended.
#[utoipa::path(
    delete, path = "/api/grants/{grant_id}", tag = "grants",
    params(("grant_id" = String, Path, pattern = "^grt_[0-9a-f]{32}$", description = "The grant")),
    responses((status = NO_CONTENT, description = "Grant revoked"), Problems)
)]
async fn remove(State(app): State<App>, caller: Principal, Path(id): Path<GrantId>) -> Result<StatusCode> {
    let state = app.relay.store.now();
    let grant = state.grant(id).map_err(|error| refused(&error))?;
    let device = state.device(&grant.client_id).map_err(|error| refused(&error))?;
    need_of(&caller, &device.workspace, Role::Owner, &Error::NoGrant(id))?;
    app.relay.store.change(|state, _| state.remove_grant(id)).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}
