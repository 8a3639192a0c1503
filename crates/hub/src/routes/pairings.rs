//! `/api/devices/pairings`: devices that want to be let in.

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};
use hub_access::{AuthorizedJson, Principal, runtime_not_found};
use protocol::{
    ProblemKind, UserName,
    lending::{
        ConfirmPairingRequest, PairedDevice, PairingClaim, PairingConfirmed, PairingList, PairingStarted,
        PendingPairing, StartPairingRequest,
    },
};
use secrecy::ExposeSecret;
use server::{
    PeerAddress, ProblemResponse, Result, RouteCollector, bearer_token, extract, extract::Path, routes,
};

use super::{Problems, devices::device, relay::not_added};
use crate::{
    app::App,
    relay::{
        AddError, Claim, PairingError,
        store::{Added, NewDevice},
    },
};

/// The largest body of a device that wants to be paired, which is read before it is known who sends it.
const BODY_BYTES_MAX: usize = 32 << 10;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector
        .add(routes!(list, begin))
        .add(routes!(claim))
        .add(routes!(look))
        .add(routes!(confirm))
        .add(routes!(refuse));
}

/// Start pairing a device. The device shows the returned code to its owner, and a user with permission confirms it here.
#[utoipa::path(
    post, path = "/api/devices/pairings", tag = "pairings", security(()), request_body = StartPairingRequest,
    responses((status = CREATED, body = PairingStarted), Problems)
)]
async fn begin(
    State(app): State<App>,
    peer: Option<Extension<PeerAddress>>,
    extract::JsonUpTo(begin): extract::JsonUpTo<StartPairingRequest, BODY_BYTES_MAX>,
) -> Result<(StatusCode, Json<PairingStarted>)> {
    let peer = peer.map(|Extension(peer)| peer);
    // Nobody knows who asks, so that they cannot do it often.
    app.access.limits.count_anonymous(peer)?;
    let pairing =
        app.relay.pairings.begin(begin, peer.map(|PeerAddress(address)| address.ip().to_canonical()));
    let pairing = pairing.map_err(|error| match error {
        PairingError::Full => ProblemResponse::new(ProblemKind::TooManyRequests, error.to_string()),
        PairingError::TooLong => ProblemResponse::new(ProblemKind::InvalidRequest, error.to_string()),
        PairingError::Secret(_) => ProblemResponse::internal(&error),
    })?;
    Ok((StatusCode::CREATED, Json(pairing)))
}

/// List the devices that wait to be paired, oldest first. Codes are not included: only the device itself shows its code.
#[utoipa::path(
    get, path = "/api/devices/pairings", tag = "pairings", responses((status = OK, body = PairingList), Problems)
)]
async fn list(State(app): State<App>) -> Json<PairingList> {
    Json(PairingList { items: app.relay.pairings.list(), next_cursor: None })
}

/// Get the device that shows a code, before confirming it.
#[utoipa::path(
    get, path = "/api/devices/pairings/{code}", tag = "pairings",
    params(("code" = String, Path, description = "The pairing code that the device shows")),
    responses((status = OK, body = PendingPairing), Problems)
)]
async fn look(
    State(app): State<App>,
    peer: Option<Extension<PeerAddress>>,
    Path(code): Path<String>,
) -> Result<Json<PendingPairing>> {
    app.relay.pairings.look(&code).map(Json).ok_or_else(|| unknown(&app, peer))
}

/// Confirm the device that shows a code, and create the named grants.
#[utoipa::path(
    post, path = "/api/devices/pairings/{code}/confirm", tag = "pairings", request_body = ConfirmPairingRequest,
    params(("code" = String, Path, description = "The pairing code that the device shows")),
    responses((status = CREATED, body = PairingConfirmed), Problems)
)]
async fn confirm(
    State(app): State<App>,
    caller: Principal,
    peer: Option<Extension<PeerAddress>>,
    Path(code): Path<String>,
    AuthorizedJson(confirm): AuthorizedJson<ConfirmPairingRequest>,
) -> Result<(StatusCode, Json<PairingConfirmed>)> {
    for id in &confirm.runtimes {
        let runtime = app.registry.get(id);
        if runtime.is_none_or(|runtime| runtime.workspace != confirm.workspace) {
            return Err(runtime_not_found(id));
        }
    }
    let paired = |request: &PendingPairing| let_in(&app, request, &confirm, &caller.user);
    match app.relay.pairings.confirm(&code, paired) {
        None => Err(unknown(&app, peer)),
        Some(Err(error)) => Err(not_added(&error)),
        Some(Ok(Added { device: entry, grants, .. })) => {
            Ok((StatusCode::CREATED, Json(PairingConfirmed { device: device(&app, &entry), grants })))
        }
    }
}

fn let_in(
    app: &App,
    request: &PendingPairing,
    confirm: &ConfirmPairingRequest,
    by: &UserName,
) -> std::result::Result<(PairedDevice, Added), AddError> {
    let new = NewDevice {
        client_id: request.client_id.clone(),
        workspace: confirm.workspace.clone(),
        label: request.label.clone(),
        instance_id: None,
        expires_at: confirm.expires_at,
        by: by.clone(),
    };
    let (added, secret) = app.relay.let_in(new, (&confirm.runtimes, &confirm.capabilities))?;
    let device = PairedDevice {
        client_id: request.client_id.clone(),
        workspace: confirm.workspace.clone(),
        token: secret.expose_secret().to_owned(),
        expires_at: added.token.token.expires_at,
    };
    Ok((device, added))
}

/// Reject the device that shows a code.
#[utoipa::path(
    post, path = "/api/devices/pairings/{code}/refuse", tag = "pairings",
    params(("code" = String, Path, description = "The pairing code that the device shows")),
    responses((status = NO_CONTENT, description = "Pairing rejected"), Problems)
)]
async fn refuse(
    State(app): State<App>,
    peer: Option<Extension<PeerAddress>>,
    Path(code): Path<String>,
) -> Result<StatusCode> {
    match app.relay.pairings.refuse(&code) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(unknown(&app, peer)),
    }
}

/// Poll for the result of a pairing, with the secret returned when it was started. The device token is returned once.
#[utoipa::path(
    post, path = "/api/devices/pairings/claim", tag = "pairings",
    responses(
        (status = OK, description = "Paired", body = PairingClaim),
        (status = ACCEPTED, description = "Not confirmed yet", body = PairingClaim),
        Problems,
    )
)]
async fn claim(
    State(app): State<App>,
    headers: HeaderMap,
    peer: Option<Extension<PeerAddress>>,
) -> Result<Response> {
    let peer = peer.map(|Extension(peer)| peer);
    let Some(secret) = bearer_token(&headers) else { return Err(app.access.limits.unauthorized(peer)) };
    match app.relay.pairings.claim(secret) {
        Claim::Waiting => Ok((StatusCode::ACCEPTED, Json(PairingClaim::Waiting)).into_response()),
        Claim::Confirmed(device) => Ok(Json(PairingClaim::Confirmed(*device)).into_response()),
        Claim::Refused => {
            Err(ProblemResponse::new(ProblemKind::PairingRefused, "a user rejected this device"))
        }
        Claim::Expired => Err(ProblemResponse::new(
            ProblemKind::PairingExpired,
            "the pairing code expired before it was confirmed; pair again",
        )),
        Claim::Unknown => Err(app.access.limits.unauthorized(peer)),
    }
}

/// Whoever guesses gets nowhere.
fn unknown(app: &App, peer: Option<Extension<PeerAddress>>) -> ProblemResponse {
    let why = ProblemResponse::new(
        ProblemKind::PairingNotFound,
        "no device is waiting with this code; check the code, or pair again",
    );
    app.access.limits.refuse(peer.map(|Extension(peer)| peer), why)
}
