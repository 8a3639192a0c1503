//! `/api/join`: a daemon that comes by itself, from where nobody can reach it.

use axum::{Extension, extract::State, response::Response};
use http::HeaderMap;
use protocol::{ProblemKind, RuntimeId, hub::DAEMON_ID};
use serde::Deserialize;
use server::{
    PeerAddress, ProblemResponse, Result, RouteCollector, WebSocketUpgrade, bearer_token, extract::Query,
    routes,
};
use utoipa::IntoParams;

use super::Problems;
use crate::{app::App, registry::JoinError};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(join));
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct JoinQuery {
    /// The runtime that the daemon joins as. It must match the join token.
    #[param(value_type = Option<String>, pattern = "^[A-Za-z0-9._-]{1,128}$")]
    name: Option<RuntimeId>,
}

/// Join as a runtime, over a WebSocket, with a join token instead of a user token.
///
/// Binary messages carry one HTTP/2 connection on which the hub sends requests and the daemon answers. A daemon that joins
/// again replaces its previous connection. The first daemon that uses a token is the only one that may: it names itself in
/// the header `Tombolo-Daemon-Id`.
#[utoipa::path(
    get, path = "/api/join/ws", tag = "runtimes", params(JoinQuery),
    responses((status = SWITCHING_PROTOCOLS, description = "Switches to a WebSocket"), Problems)
)]
async fn join(
    State(app): State<App>,
    Query(query): Query<JoinQuery>,
    headers: HeaderMap,
    peer: Option<Extension<PeerAddress>>,
    upgrade: Result<WebSocketUpgrade>,
) -> Result<Response> {
    let peer = peer.map(|Extension(peer)| peer);
    let Some(token) = bearer_token(&headers) else { return Err(app.access.limits.unauthorized(peer)) };
    let daemon_id = headers.get(DAEMON_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let (id, joined) = app.registry.joining(token, daemon_id).map_err(|error| match error {
        JoinError::UnknownToken => app.access.limits.unauthorized(peer),
        JoinError::AnotherDaemon(_) | JoinError::Expired(_) => {
            ProblemResponse::new(ProblemKind::Forbidden, error.to_string())
        }
        JoinError::Registry(error) => ProblemResponse::internal(&error),
    })?;
    if query.name.is_some_and(|name| name != id) {
        return Err(ProblemResponse::new(ProblemKind::Forbidden, "the token belongs to another runtime"));
    }
    app.sockets.open(upgrade, tunnel::MESSAGE_BYTES_MAX, move |socket| async move {
        joined.hold(socket).await;
    })
}
