//! `/v1/processes`: programs that the user runs.

mod logs;
mod run;
mod terminal;

use axum::{Json, body::Body, extract::State};
use http::{HeaderMap, StatusCode};
use protocol::{
    ProcessId,
    processes::{SendSignalRequest, StartProcessRequest, TerminalSize, UserProcess, UserProcessList},
};
use serde::Deserialize;
use server::{
    RouteCollector,
    extract::{self, Path, Query},
    request_body, routes,
};
use utoipa::IntoParams;

use super::Problems;
use crate::{api_error::Result, app::App};

/// The largest input of one request, which equals the size of the input queue of a process.
const INPUT_BYTES_MAX: usize = 1 << 20;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector
        .add(routes!(list, start))
        .add(routes!(run::run))
        .add(routes!(read, delete))
        .add(routes!(run::stop))
        .add(routes!(run::kill))
        .add(routes!(logs::logs))
        .add(routes!(input))
        .add(routes!(signal))
        .add(routes!(resize))
        .add(routes!(wait))
        .add(routes!(terminal::terminal));
}

/// List the processes that were started and not deleted, oldest first.
#[utoipa::path(get, path = "/v1/processes", tag = "processes", responses((status = OK, body = UserProcessList), Problems))]
async fn list(State(app): State<App>) -> Json<UserProcessList> {
    Json(UserProcessList { items: app.processes.list(), next_cursor: None })
}

/// Start a process, on pipes or on a terminal.
#[utoipa::path(
    post, path = "/v1/processes", tag = "processes", request_body = StartProcessRequest,
    responses((status = CREATED, body = UserProcess), Problems)
)]
async fn start(
    State(app): State<App>,
    extract::Json(start): extract::Json<StartProcessRequest>,
) -> Result<(StatusCode, Json<UserProcess>)> {
    Ok((StatusCode::CREATED, Json(app.processes.start(start).await?)))
}

/// Read one process.
#[utoipa::path(
    get, path = "/v1/processes/{id}", tag = "processes",
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process")),
    responses((status = OK, body = UserProcess), Problems)
)]
async fn read(State(app): State<App>, Path(id): Path<ProcessId>) -> Result<Json<UserProcess>> {
    Ok(Json(app.processes.get(id)?))
}

/// Stop a process and its descendants, and delete it.
#[utoipa::path(
    delete, path = "/v1/processes/{id}", tag = "processes",
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process")),
    responses((status = NO_CONTENT, description = "Deleted, or did not exist"), Problems)
)]
async fn delete(State(app): State<App>, Path(id): Path<ProcessId>) -> StatusCode {
    app.processes.delete(id).await;
    StatusCode::NO_CONTENT
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InputQuery {
    /// Whether to close the input after this. A terminal gets Ctrl-D instead.
    #[serde(default)]
    #[param(default = false)]
    close: bool,
}

/// Write to the input of a process. The response is sent when the input is queued, not when the process has read it.
#[utoipa::path(
    post, path = "/v1/processes/{id}/input", tag = "processes",
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process"), InputQuery),
    request_body(
        content = String, content_type = "application/octet-stream",
        description = "The bytes to write, at most 1 MiB; may be empty"
    ),
    responses((status = NO_CONTENT, description = "The input is queued"), Problems)
)]
async fn input(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    Query(query): Query<InputQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode> {
    let bytes = request_body::collect(body, INPUT_BYTES_MAX, app.stall_timeout).await?;
    if !bytes.is_empty() {
        extract::require_content_type(&headers, "application/octet-stream")?;
    }
    app.processes.input(id, bytes)?;
    if query.close {
        app.processes.close_input(id)?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Send a signal to a process and its group.
#[utoipa::path(
    post, path = "/v1/processes/{id}/signal", tag = "processes", request_body = SendSignalRequest,
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process")),
    responses((status = NO_CONTENT, description = "The signal was sent"), Problems)
)]
async fn signal(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    extract::Json(request): extract::Json<SendSignalRequest>,
) -> Result<StatusCode> {
    app.processes.signal(id, request.signal)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Change the size of the terminal of a process.
#[utoipa::path(
    post, path = "/v1/processes/{id}/resize", tag = "processes", request_body = TerminalSize,
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process")),
    responses((status = NO_CONTENT, description = "Resized"), Problems)
)]
async fn resize(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    extract::Json(size): extract::Json<TerminalSize>,
) -> Result<StatusCode> {
    app.processes.resize(id, size)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WaitQuery {
    /// How long to wait for the exit; the daemon's limit if left out.
    #[param(minimum = 1)]
    timeout_ms: Option<u64>,
}

/// Wait until a process exits. After the timeout, the response describes the process, which may still run.
#[utoipa::path(
    post, path = "/v1/processes/{id}/wait", tag = "processes",
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process"), WaitQuery),
    responses((status = OK, description = "The process; `state` says whether it has exited", body = UserProcess), Problems)
)]
async fn wait(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    Query(query): Query<WaitQuery>,
) -> Result<Json<UserProcess>> {
    let timeout = extract::response_timeout(query.timeout_ms, app.timeout_max)?;
    Ok(Json(app.processes.wait(id, timeout).await?))
}
