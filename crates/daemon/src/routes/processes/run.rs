//! Runs a process to its end, and ends a running one.

use std::time::Duration;

use axum::{Json, extract::State};
use protocol::{
    ProblemKind, ProcessId,
    processes::{ProcessSignal, RunProcessRequest, RunProcessResult, UserProcess},
};
use serde::Deserialize;
use server::extract::{self, Path, Query};
use user_processes::{Error, RUN_OUTPUT_BYTES_MAX};
use utoipa::IntoParams;

use crate::{
    api_error::{ApiError, Result},
    app::App,
    routes::Problems,
};

/// Run a process without input until it exits, and return its output.
///
/// After the timeout, or if the client disconnects, the process and its descendants are killed. The process is not listed
/// afterwards. To follow a process while it runs, start it with `POST /v1/processes`.
#[utoipa::path(
    post, path = "/v1/processes/run", tag = "processes", request_body = RunProcessRequest,
    responses((status = OK, description = "The output; `timedOut` says whether the process was killed", body = RunProcessResult), Problems)
)]
pub(super) async fn run(
    State(app): State<App>,
    extract::Json(request): extract::Json<RunProcessRequest>,
) -> Result<Json<RunProcessResult>> {
    let timeout = extract::response_timeout(request.timeout_ms, app.timeout_max)?;
    let output_max = request.max_output_bytes.unwrap_or(RUN_OUTPUT_BYTES_MAX);
    if output_max > RUN_OUTPUT_BYTES_MAX {
        let detail = format!("`maxOutputBytes` must not be greater than {RUN_OUTPUT_BYTES_MAX}");
        return Err(ApiError::new(ProblemKind::InvalidRequest, detail));
    }
    Ok(Json(app.processes.run(request.into(), timeout, output_max).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EndProcessQuery {
    /// How long to wait for the exit before the response is sent; not at all if left out.
    #[param(minimum = 1)]
    wait_ms: Option<u64>,
}

/// Ask a process and its group to terminate, with SIGTERM. A process that has exited stays as it is.
#[utoipa::path(
    post, path = "/v1/processes/{id}/stop", tag = "processes",
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process"), EndProcessQuery),
    responses((status = OK, description = "The process; `state` says whether it has exited", body = UserProcess), Problems)
)]
pub(super) async fn stop(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    Query(query): Query<EndProcessQuery>,
) -> Result<Json<UserProcess>> {
    end(&app, id, ProcessSignal::Term, query).await
}

/// Kill a process and its group, with SIGKILL. A process that has exited stays as it is.
#[utoipa::path(
    post, path = "/v1/processes/{id}/kill", tag = "processes",
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process"), EndProcessQuery),
    responses((status = OK, description = "The process; `state` says whether it has exited", body = UserProcess), Problems)
)]
pub(super) async fn kill(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    Query(query): Query<EndProcessQuery>,
) -> Result<Json<UserProcess>> {
    end(&app, id, ProcessSignal::Kill, query).await
}

async fn end(
    app: &App,
    id: ProcessId,
    signal: ProcessSignal,
    EndProcessQuery { wait_ms }: EndProcessQuery,
) -> Result<Json<UserProcess>> {
    let wait = wait_ms.map_or(Duration::ZERO, Duration::from_millis);
    if wait > app.timeout_max {
        let detail = format!("`waitMs` must not be greater than {}", app.timeout_max.as_millis());
        return Err(ApiError::new(ProblemKind::InvalidRequest, detail));
    }
    match app.processes.signal(id, signal) {
        Ok(()) | Err(Error::Ended(_)) => Ok(Json(app.processes.wait(id, wait).await?)),
        Err(error) => Err(error.into()),
    }
}
