//! `/api/v1/relay/environments`: what sessions use of devices.

use axum::{
    Extension, Json,
    extract::{FromRequestParts, State},
    response::Response,
};
use http::{HeaderMap, StatusCode, request::Parts};
use hub_access::{AuthorizedJson, Principal};
use protocol::{
    EnvironmentId,
    lending::{CreateEnvironmentRequest, Environment, EnvironmentCreated, EnvironmentList},
};
use secrecy::ExposeSecret;
use server::{
    PeerAddress, ProblemResponse, Result, RouteCollector, WebSocketUpgrade, bearer_token, extract::Path,
    routes,
};

use super::{not_added, refused};
use crate::{
    app::App,
    relay::{self, serve_runtime},
    routes::Problems,
};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list, add)).add(routes!(get, remove)).add(routes!(connect));
}

/// List the environments of the caller's workspaces, oldest first.
#[utoipa::path(
    get, path = "/api/v1/relay/environments", tag = "environments",
    responses((status = OK, body = EnvironmentList), Problems)
)]
async fn list(State(app): State<App>, caller: Principal) -> Json<EnvironmentList> {
    let state = app.relay.store.now();
    let seen = state.environments().filter(|entry| caller.sees(&entry.workspace));
    // One that has just been ended is not there any more.
    let seen = seen.filter_map(|entry| app.relay.environment(entry.id).ok());
    let items = seen.map(|environment| app.relay.view(&environment)).collect();
    Json(EnvironmentList { items, next_cursor: None })
}

/// Create an environment: a runtime's access to a device. The response contains its secret, which is not shown again.
#[utoipa::path(
    post, path = "/api/v1/relay/environments", tag = "environments", request_body = CreateEnvironmentRequest,
    responses((status = CREATED, body = EnvironmentCreated), Problems)
)]
async fn add(
    State(app): State<App>,
    caller: Principal,
    AuthorizedJson(add): AuthorizedJson<CreateEnvironmentRequest>,
) -> Result<(StatusCode, Json<EnvironmentCreated>)> {
    let made = app.relay.add_environment(add, &caller.rights);
    let (environment, token) = made.map_err(|error| not_added(&error))?;
    let environment = app.relay.view(&environment);
    Ok((
        StatusCode::CREATED,
        Json(EnvironmentCreated { environment, secret: token.expose_secret().to_owned() }),
    ))
}

/// Get an environment.
#[utoipa::path(
    get, path = "/api/v1/relay/environments/{environment_id}", tag = "environments",
    params(("environment_id" = String, Path, pattern = "^env_[0-9a-f]{32}$", description = "The environment")),
    responses((status = OK, body = Environment), Problems)
)]
async fn get(State(app): State<App>, Path(id): Path<EnvironmentId>) -> Result<Json<Environment>> {
    let environment = app.relay.environment(id).map_err(|error| refused(&error))?;
    Ok(Json(app.relay.view(&environment)))
}

/// Delete an environment: ends its running requests and closes its connections.
#[utoipa::path(
    delete, path = "/api/v1/relay/environments/{environment_id}", tag = "environments",
    params(("environment_id" = String, Path, pattern = "^env_[0-9a-f]{32}$", description = "The environment")),
    responses((status = NO_CONTENT, description = "Environment deleted"), Problems)
)]
async fn remove(State(app): State<App>, Path(id): Path<EnvironmentId>) -> Result<StatusCode> {
    app.relay.end_environments(|entry| entry.id == id).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Use a device, over a WebSocket, with the environment's secret instead of a user token.
///
/// Text messages are frames of `ya-environment-relay.v1`, the protocol that devices use too. The runtime sends `hello` with
/// `client_kind` `runtime` and no capabilities; `relay.accepted` returns what it may use. Then it sends requests.
#[utoipa::path(
    get, path = "/api/v1/relay/environments/{environment_id}/connect", tag = "environments",
    params(("environment_id" = String, Path, pattern = "^env_[0-9a-f]{32}$", description = "The environment")),
    responses((status = SWITCHING_PROTOCOLS, description = "Switches to a WebSocket"), Problems)
)]
async fn connect(
    State(app): State<App>,
    Path(id): Path<EnvironmentId>,
    headers: HeaderMap,
    peer: Option<Extension<PeerAddress>>,
    upgrade: Result<WebSocketUpgrade>,
) -> Result<Response> {
    let environment = opened(&app, id, &headers, peer)?;
    let (relay, stop) = (app.relay.clone(), app.stop.clone());
    app.sockets.open(upgrade, app.relay.limits().frame_bytes_max, move |socket| {
        serve_runtime(relay, environment, socket, stop)
    })
}

/// The environment whose door is opened with the secret in the head. Whoever has another learns nothing of it.
pub(crate) fn opened(
    app: &App,
    id: EnvironmentId,
    headers: &HeaderMap,
    peer: Option<Extension<PeerAddress>>,
) -> Result<std::sync::Arc<relay::Environment>> {
    let opened = bearer_token(headers).and_then(|secret| app.relay.opened(id, secret));
    let opened = opened.ok_or_else(|| app.access.limits.unauthorized(peer.map(|Extension(peer)| peer)))?;
    app.access.limits.count_environment(id)?;
    Ok(opened)
}

/// The environment in the path, opened with the secret in the head. It is extracted before the body is read, so that whoever
/// has no secret cannot make the hub hold their bodies.
pub(super) struct OpenedEnvironment(pub(super) std::sync::Arc<relay::Environment>);

impl FromRequestParts<App> for OpenedEnvironment {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(id) = Path::<EnvironmentId>::from_request_parts(parts, app).await?;
        let peer = parts.extensions.get().copied().map(Extension);
        opened(app, id, &parts.headers, peer).map(Self)
    }
}
