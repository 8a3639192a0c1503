//! `/api/runtimes`: the daemons that the hub knows.

use axum::{Json, extract::State};
use http::StatusCode;
use protocol::{
    Kind, RuntimeId,
    hub::{AddRuntime, Runtime, RuntimeList},
};
use server::{Refusal, Result, extract, extract::Path};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::Problems;
use crate::{Registered, RegistryError, app::App};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(get, remove))
}

/// List the runtimes, by name.
#[utoipa::path(get, path = "/api/runtimes", tag = "runtimes", responses((status = OK, body = RuntimeList), Problems))]
async fn list(State(app): State<App>) -> Json<RuntimeList> {
    let items = app.registry.list().into_iter().map(|(id, registered)| runtime(id, &registered, None));
    Json(RuntimeList { items: items.collect(), next_cursor: None })
}

/// Add a runtime. Where it is and its token are kept by the hub, and told to nobody.
#[utoipa::path(
    post, path = "/api/runtimes", tag = "runtimes", request_body = AddRuntime,
    responses((status = CREATED, body = Runtime), Problems)
)]
async fn add(
    State(app): State<App>,
    extract::Json(add): extract::Json<AddRuntime>,
) -> Result<(StatusCode, Json<Runtime>)> {
    let registered = app
        .registry
        .add(add.id.clone(), &add.endpoint, add.token.as_deref())
        .map_err(|error| refused(&error))?;
    Ok((StatusCode::CREATED, Json(runtime(add.id, &registered, None))))
}

/// Say how a runtime is; it is asked.
#[utoipa::path(
    get, path = "/api/runtimes/{runtime_id}", tag = "runtimes",
    params(("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime")),
    responses((status = OK, body = Runtime), Problems)
)]
async fn get(State(app): State<App>, Path(id): Path<RuntimeId>) -> Result<Json<Runtime>> {
    let registered = find(&app, &id)?;
    let is_up = registered.client.info().health().await.is_ok();
    registered.reach.note(is_up);
    Ok(Json(runtime(id, &registered, Some(is_up))))
}

/// Remove a runtime. Nothing happens to it; the hub forgets it.
#[utoipa::path(
    delete, path = "/api/runtimes/{runtime_id}", tag = "runtimes",
    params(("runtime_id" = String, Path, pattern = "^[A-Za-z0-9._-]{1,128}$", description = "The runtime")),
    responses((status = NO_CONTENT, description = "It is forgotten"), Problems)
)]
async fn remove(State(app): State<App>, Path(id): Path<RuntimeId>) -> Result<StatusCode> {
    match app.registry.remove(&id).map_err(|error| refused(&error))? {
        true => {
            app.feeds.forget(&id);
            Ok(StatusCode::NO_CONTENT)
        }
        false => Err(unknown(&id)),
    }
}

/// The runtime of that name.
pub(super) fn find(app: &App, id: &RuntimeId) -> Result<Registered> {
    app.registry.get(id).ok_or_else(|| unknown(id))
}

fn unknown(id: &RuntimeId) -> Refusal {
    Refusal::new(Kind::RuntimeNotFound, format!("there is no runtime `{id}`"))
}

fn runtime(id: RuntimeId, registered: &Registered, is_up: Option<bool>) -> Runtime {
    Runtime { id, is_up, added_at: registered.added_at }
}

fn refused(error: &RegistryError) -> Refusal {
    match error {
        RegistryError::Taken(_) => Refusal::new(Kind::RuntimeTaken, error.to_string()),
        RegistryError::Invalid { .. } => Refusal::new(Kind::InvalidRequest, error.to_string()),
        RegistryError::File { .. } => Refusal::internal(error),
    }
}
