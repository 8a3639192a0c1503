//! `/api/users`: who may use the hub; for those who manage it.

use axum::{Json, extract::State};
use http::StatusCode;
use hub_access::UserStoreError;
use protocol::{
    ProblemKind, UserName,
    people::{CreateUserRequest, UpdateUserRequest, User, UserList},
};
use server::{ProblemResponse, Result, RouteCollector, extract, extract::Path, routes};

use super::Problems;
use crate::app::App;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list, add)).add(routes!(get, set, remove));
}

/// List the users, by name.
#[utoipa::path(get, path = "/api/users", tag = "users", responses((status = OK, body = UserList), Problems))]
async fn list(State(app): State<App>) -> Json<UserList> {
    Json(UserList { items: app.access.users.users(), next_cursor: None })
}

/// Add a user. Create a token for the user next.
#[utoipa::path(
    post, path = "/api/users", tag = "users", request_body = CreateUserRequest,
    responses((status = CREATED, body = User), Problems)
)]
async fn add(
    State(app): State<App>,
    extract::Json(add): extract::Json<CreateUserRequest>,
) -> Result<(StatusCode, Json<User>)> {
    let CreateUserRequest { name, is_admin, default_role, roles } = add;
    let user = app
        .access
        .users
        .add_user(name, UpdateUserRequest { is_admin, default_role, roles })
        .map_err(|error| refused(&error))?;
    Ok((StatusCode::CREATED, Json(user)))
}

/// Get a user and their roles.
#[utoipa::path(
    get, path = "/api/users/{user}", tag = "users",
    params(("user" = String, Path, pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$", description = "The user")),
    responses((status = OK, body = User), Problems)
)]
async fn get(State(app): State<App>, Path(name): Path<UserName>) -> Result<Json<User>> {
    app.access.users.user(&name).map(Json).map_err(|error| refused(&error))
}

/// Replace a user's roles. The change also applies to open streams.
#[utoipa::path(
    put, path = "/api/users/{user}", tag = "users", request_body = UpdateUserRequest,
    params(("user" = String, Path, pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$", description = "The user")),
    responses((status = OK, body = User), Problems)
)]
async fn set(
    State(app): State<App>,
    Path(name): Path<UserName>,
    extract::Json(set): extract::Json<UpdateUserRequest>,
) -> Result<Json<User>> {
    app.access.users.set_user(&name, set).map(Json).map_err(|error| refused(&error))
}

/// Remove a user and all their tokens.
#[utoipa::path(
    delete, path = "/api/users/{user}", tag = "users",
    params(("user" = String, Path, pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$", description = "The user")),
    responses((status = NO_CONTENT, description = "User removed; their tokens are revoked"), Problems)
)]
async fn remove(State(app): State<App>, Path(name): Path<UserName>) -> Result<StatusCode> {
    app.access.users.remove_user(&name).map_err(|error| refused(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) fn refused(error: &UserStoreError) -> ProblemResponse {
    let kind = match error {
        UserStoreError::NoUser(_) => ProblemKind::UserNotFound,
        UserStoreError::UserTaken(_) => ProblemKind::UserTaken,
        UserStoreError::NoToken(_) => ProblemKind::TokenNotFound,
        UserStoreError::LastAdmin(_) => ProblemKind::LastAdmin,
        UserStoreError::Full { .. } => ProblemKind::PeopleFull,
        UserStoreError::Expired => ProblemKind::InvalidRequest,
        UserStoreError::NotLetIn => ProblemKind::Unauthorized,
        UserStoreError::File(_) => return ProblemResponse::internal(error),
    };
    ProblemResponse::new(kind, error.to_string())
}
