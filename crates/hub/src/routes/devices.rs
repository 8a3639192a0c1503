//! `/api/devices`: the machines that are lent.

use axum::{Json, extract::State};
use http::StatusCode;
use hub_access::{AuthorizedJson, Principal};
use protocol::{
    lending::{AddDeviceRequest, Device, DeviceAdded, DeviceList},
    relay::ClientId,
};
use secrecy::ExposeSecret;
use server::{Result, RouteCollector, extract::Path, routes};

use super::{Problems, relay::refused};
use crate::{
    app::App,
    relay::store::{DeviceEntry, NewDevice},
};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list, add)).add(routes!(get, remove)).add(routes!(stop));
}

/// List the devices of the caller's workspaces, by name.
#[utoipa::path(get, path = "/api/devices", tag = "devices", responses((status = OK, body = DeviceList), Problems))]
async fn list(State(app): State<App>, caller: Principal) -> Json<DeviceList> {
    let state = app.relay.store.now();
    let seen = state.devices().filter(|device| caller.sees(&device.workspace));
    Json(DeviceList { items: seen.map(|entry| device(&app, entry)).collect(), next_cursor: None })
}

/// Register a device, or issue one more token for it. The response contains the token's secret, which is not shown again.
#[utoipa::path(
    post, path = "/api/devices", tag = "devices", request_body = AddDeviceRequest,
    responses((status = CREATED, body = DeviceAdded), Problems)
)]
async fn add(
    State(app): State<App>,
    caller: Principal,
    AuthorizedJson(add): AuthorizedJson<AddDeviceRequest>,
) -> Result<(StatusCode, Json<DeviceAdded>)> {
    let AddDeviceRequest { client_id, workspace, label, instance_id, expires_at } = add;
    let new = NewDevice { client_id, workspace, label, instance_id, expires_at, by: caller.user };
    let added = app.relay.store.add_device(new);
    let (added, secret) = added.map_err(|error| refused(&error))?;
    let device = device(&app, &added.device);
    Ok((StatusCode::CREATED, Json(DeviceAdded { device, secret: secret.expose_secret().to_owned() })))
}

/// Get a device.
#[utoipa::path(
    get, path = "/api/devices/{client_id}", tag = "devices",
    params(("client_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The device")),
    responses((status = OK, body = Device), Problems)
)]
async fn get(State(app): State<App>, Path(id): Path<ClientId>) -> Result<Json<Device>> {
    let state = app.relay.store.now();
    let entry = state.device(&id).map_err(|error| refused(&error))?;
    Ok(Json(device(&app, entry)))
}

/// Remove a device: disconnects it and deletes its grants and environments.
#[utoipa::path(
    delete, path = "/api/devices/{client_id}", tag = "devices",
    params(("client_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The device")),
    responses((status = NO_CONTENT, description = "Removed"), Problems)
)]
async fn remove(State(app): State<App>, Path(id): Path<ClientId>) -> Result<StatusCode> {
    app.relay.store.change(|state, _| state.remove_device(&id)).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stop a device in an emergency: disconnects it, ends its running requests and revokes its tokens. It needs a new token to
/// reconnect.
#[utoipa::path(
    post, path = "/api/devices/{client_id}/stop", tag = "devices",
    params(("client_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The device")),
    responses((status = NO_CONTENT, description = "Token revoked; the device is disconnected"), Problems)
)]
async fn stop(State(app): State<App>, Path(id): Path<ClientId>) -> Result<StatusCode> {
    app.relay.store.change(|state, _| state.stop_device(&id)).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// A device as people see it.
pub(super) fn device(app: &App, entry: &DeviceEntry) -> Device {
    Device {
        client_id: entry.client_id.clone(),
        workspace: entry.workspace.clone(),
        label: entry.label.clone(),
        tokens: entry.tokens.iter().map(|token| token.token.clone()).collect(),
        created_at: entry.created_at,
        created_by: entry.created_by.clone(),
        connection: app.relay.connections.get(&entry.client_id).map(|connection| connection.view()),
    }
}
