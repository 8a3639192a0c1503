//! `/api/v1/relay/environments/{environment_id}/mcp`: a device as MCP tools, for any agent.

use std::time::Duration;

use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use mcp_door::DoorError;
use protocol::{EnvironmentId, ProblemKind};
use server::{PeerAddress, ProblemResponse, Result, RouteCollector, extract::Path, routes};

use super::environments::opened;
use crate::{app::App, routes::Problems};

/// When a client that found no room may try again: sessions end as slowly as agents do.
const RETRY_AFTER: Duration = Duration::from_secs(5);

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(listen, send, leave));
}

/// Receive messages that the MCP server initiates, in a session of an older MCP revision.
#[utoipa::path(
    get, path = "/api/v1/relay/environments/{environment_id}/mcp", tag = "mcp",
    params(("environment_id" = String, Path, pattern = "^env_[0-9a-f]{32}$", description = "The environment")),
    responses((status = OK, description = "MCP messages", body = String, content_type = "text/event-stream"), Problems)
)]
async fn listen(
    state: State<App>,
    id: Path<EnvironmentId>,
    peer: Option<Extension<PeerAddress>>,
    request: Request,
) -> Result<Response> {
    answer(state, id, peer, request).await
}

/// Use a device as MCP tools (streamable HTTP transport), with the environment's secret instead of a user token.
#[utoipa::path(
    post, path = "/api/v1/relay/environments/{environment_id}/mcp", tag = "mcp", request_body = serde_json::Value,
    params(("environment_id" = String, Path, pattern = "^env_[0-9a-f]{32}$", description = "The environment")),
    responses(
        (status = OK, description = "One MCP message, or a stream of them", content(
            (serde_json::Value = "application/json"), (String = "text/event-stream"),
        )),
        Problems,
    )
)]
async fn send(
    state: State<App>,
    id: Path<EnvironmentId>,
    peer: Option<Extension<PeerAddress>>,
    request: Request,
) -> Result<Response> {
    answer(state, id, peer, request).await
}

/// End an MCP session of an older MCP revision.
#[utoipa::path(
    delete, path = "/api/v1/relay/environments/{environment_id}/mcp", tag = "mcp",
    params(("environment_id" = String, Path, pattern = "^env_[0-9a-f]{32}$", description = "The environment")),
    responses((status = NO_CONTENT, description = "MCP session ended"), Problems)
)]
async fn leave(
    state: State<App>,
    id: Path<EnvironmentId>,
    peer: Option<Extension<PeerAddress>>,
    request: Request,
) -> Result<Response> {
    answer(state, id, peer, request).await
}

async fn answer(
    State(app): State<App>,
    Path(id): Path<EnvironmentId>,
    peer: Option<Extension<PeerAddress>>,
    request: Request,
) -> Result<Response> {
    let environment = opened(&app, id, request.headers(), peer)?;
    let door = app.relay.mcp(&environment, &app.stop);
    let answered = door.answer(request).await.map_err(|error| {
        let kind = match error {
            DoorError::Closed => ProblemKind::ShuttingDown,
            DoorError::Full => ProblemKind::TooManySessions,
        };
        ProblemResponse::new(kind, error.to_string()).retry_after(RETRY_AFTER)
    })?;
    Ok(answered.map(Body::new))
}
