//! `/api/runtimes`: the daemons that the hub knows.

use std::time::Duration;

use axum::{Json, extract::State};
use http::StatusCode;
use hub_access::{Principal, runtime_not_found};
use jiff::Timestamp;
use protocol::{
    ProblemKind, RuntimeId,
    hub::{AddRuntimeRequest, CreateJoinTokenRequest, JoinToken, Runtime, RuntimeList},
    info::HealthStatus,
};
use secrecy::ExposeSecret;
use server::{ProblemResponse, Result, RouteCollector, extract, extract::Path, routes};

use super::Problems;
use crate::{Registered, RegistryError, app::App, runtime::ask};

/// How long a join token may wait for its daemon, if nothing else is asked for.
const JOIN_TOKEN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list, add)).add(routes!(invite)).add(routes!(get, remove));
}

/// List the runtimes of the caller's workspaces by name. Administrators see all runtimes.
#[utoipa::path(get, path = "/api/runtimes", tag = "runtimes", responses((status = OK, body = RuntimeList), Problems))]
async fn list(State(app): State<App>, caller: Principal) -> Json<RuntimeList> {
    let seen = app.registry.list().into_iter().filter(|(_, registered)| caller.sees(&registered.workspace));
    let items = seen.map(|(id, registered)| runtime(id, &registered)).collect();
    Json(RuntimeList { items, next_cursor: None })
}

/// Add a runtime. The hub stores its endpoint and token and never returns them.
#[utoipa::path(
    post, path = "/api/runtimes", tag = "runtimes", request_body = AddRuntimeRequest,
    responses((status = CREATED, body = Runtime), Problems)
)]
async fn add(
    State(app): State<App>,
    extract::Json(add): extract::Json<AddRuntimeRequest>,
) -> Result<(StatusCode, Json<Runtime>)> {
    let registered = app
        .registry
        .add((add.id.clone(), add.workspace), &add.endpoint, add.token.as_deref())
        .map_err(|error| refused(&error))?;
    Ok((StatusCode::CREATED, Json(runtime(add.id, &registered))))
}

/// Create a token with which a daemon can join as a runtime. The response contains the secret, which is not shown again.
///
/// The runtime is registered immediately; it is reachable while its daemon is connected (`GET /api/join/ws`).
#[utoipa::path(
    post, path = "/api/runtimes/join-tokens", tag = "runtimes", request_body = CreateJoinTokenRequest,
    responses((status = CREATED, body = JoinToken), Problems)
)]
async fn invite(
    State(app): State<App>,
    extract::Json(invite): extract::Json<CreateJoinTokenRequest>,
) -> Result<(StatusCode, Json<JoinToken>)> {
    let CreateJoinTokenRequest { id, workspace, expires_at } = invite;
    let now = Timestamp::now();
    let expires_at = expires_at.unwrap_or(now + JOIN_TOKEN_AGE);
    if expires_at <= now {
        return Err(ProblemResponse::new(ProblemKind::InvalidRequest, "`expiresAt` must be in the future"));
    }
    let token = app.registry.invite(id.clone(), workspace, expires_at).map_err(|error| refused(&error))?;
    Ok((
        StatusCode::CREATED,
        Json(JoinToken { id, token: token.expose_secret().into(), expires_at: Some(expires_at) }),
    ))
}

/// Get a runtime and check its health.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}", tag = "runtimes",
    params(("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime")),
    responses((status = OK, body = Runtime), Problems)
)]
async fn get(State(app): State<App>, Path(id): Path<RuntimeId>) -> Result<Json<Runtime>> {
    let registered = find(&app, &id)?;
    let is_reachable = ask::<HealthStatus>(&*registered.runtime, "/v1/health").await.is_ok();
    Ok(Json(Runtime { is_reachable: Some(is_reachable), ..runtime(id, &registered) }))
}

/// Remove a runtime from the hub and revoke its join tokens. The daemon itself keeps running.
#[utoipa::path(
    delete, path = "/api/runtimes/{runtime_id}", tag = "runtimes",
    params(("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime")),
    responses((status = NO_CONTENT, description = "Removed"), Problems)
)]
async fn remove(State(app): State<App>, Path(id): Path<RuntimeId>) -> Result<StatusCode> {
    match app.registry.remove(&id).map_err(|error| refused(&error))? {
        true => {
            app.feeds.forget(&id);
            Ok(StatusCode::NO_CONTENT)
        }
        false => Err(runtime_not_found(&id)),
    }
}

/// The runtime of that name.
pub(super) fn find(app: &App, id: &RuntimeId) -> Result<Registered> {
    app.registry.get(id).ok_or_else(|| runtime_not_found(id))
}

fn runtime(id: RuntimeId, registered: &Registered) -> Runtime {
    let (workspace, is_reachable) = (registered.workspace.clone(), registered.runtime.is_up());
    Runtime { id, workspace, kind: registered.kind, is_reachable, added_at: registered.added_at }
}

fn refused(error: &RegistryError) -> ProblemResponse {
    match error {
        RegistryError::Taken(_) => ProblemResponse::new(ProblemKind::RuntimeTaken, error.to_string()),
        RegistryError::Named(_) => ProblemResponse::new(ProblemKind::RuntimeNamed, error.to_string()),
        RegistryError::Invalid { .. } => ProblemResponse::new(ProblemKind::InvalidRequest, error.to_string()),
        RegistryError::File { .. } | RegistryError::Names { .. } => ProblemResponse::internal(error),
    }
}
