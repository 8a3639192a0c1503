//! `/api/v1/relay/connect`: where devices come in.

use axum::{Extension, extract::State, response::Response};
use http::HeaderMap;
use hub_access::token_digest;
use jiff::Timestamp;
use protocol::ProblemKind;
use server::{PeerAddress, ProblemResponse, Result, RouteCollector, WebSocketUpgrade, bearer_token, routes};

use crate::{
    app::App,
    relay::{Who, device},
    routes::Problems,
};

/// Where a device comes in. The guard lets everybody through to here: what a device connects with is no token of a user.
pub(crate) const PATH: &str = "/api/v1/relay/connect";

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(connect));
}

/// Connect a device, over a WebSocket, with a device token instead of a user token.
///
/// Text messages are frames of `ya-environment-relay.v1`. The device sends `hello` first; `relay.accepted` returns the granted
/// part of its offer. A device that reconnects replaces its previous connection; another instance of it is rejected.
#[utoipa::path(
    get, path = "/api/v1/relay/connect", tag = "relay",
    responses((status = SWITCHING_PROTOCOLS, description = "Switches to a WebSocket"), Problems)
)]
async fn connect(
    State(app): State<App>,
    headers: HeaderMap,
    peer: Option<Extension<PeerAddress>>,
    upgrade: Result<WebSocketUpgrade>,
) -> Result<Response> {
    let peer = peer.map(|Extension(peer)| peer);
    let who = who(&app, &headers, peer)?;
    let coming = app.relay.connections.may_come(&who.client_id, &who.instance_id);
    coming.map_err(|another| ProblemResponse::new(ProblemKind::DeviceConnected, another.to_string()))?;
    let (relay, stop, audit, name) =
        (app.relay.clone(), app.stop.clone(), app.access.audit.clone(), who.client_id.clone());
    app.sockets.open(upgrade, app.relay.limits().frame_bytes_max, move |socket| async move {
        if let Err(violation) = device::serve(relay, who, socket, stop).await {
            audit.violation(PATH, peer, violation.code.number(), &format!("{name}: {}", violation.reason));
        }
    })
}

/// The device that a token lets in.
fn who(app: &App, headers: &HeaderMap, peer: Option<PeerAddress>) -> Result<Who> {
    let Some(secret) = bearer_token(headers) else { return Err(app.access.limits.unauthorized(peer)) };
    let state = app.relay.store.now();
    let Some((device, token)) = state.find(&token_digest(secret), Timestamp::now()) else {
        // A token that is good for something else is told so.
        if app.access.users.find(secret).is_some() {
            let why = ProblemResponse::new(
                ProblemKind::Forbidden,
                "this is a user token; connect with a device token",
            );
            return Err(app.access.limits.refuse(peer, why));
        }
        return Err(app.access.limits.unauthorized(peer));
    };
    app.access.limits.count_request(token.token.id)?;
    if !state.is_enabled(&device.workspace) {
        return Err(ProblemResponse::new(
            ProblemKind::Forbidden,
            "devices are turned off in this device's workspace",
        ));
    }
    Ok(Who {
        client_id: device.client_id.clone(),
        workspace: device.workspace.clone(),
        token: token.token.id,
        instance_id: token.token.instance_id.clone(),
    })
}
