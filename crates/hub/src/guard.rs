//! The guard before every route: who asks, whether they may, and what is left of it in the audit.

use axum::{
    RequestExt,
    extract::{MatchedPath, RawPathParams, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, header};
use protocol::{ProblemKind, RuntimeId, SessionId};
use server::{PeerAddress, ProblemResponse, Result, bearer_token};

use crate::{
    app::App,
    caller::Caller,
    eye::Eye,
    permit::Permit,
    session_cookie::SessionCookie,
    standing::Standing,
    verb::{self, Entry, Need, Verb},
};

/// What a request asks for, and of what.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) verb: &'static Verb,
    pub(crate) runtime: Option<RuntimeId>,
    pub(crate) worker: Option<SessionId>,
    /// The path of what is passed on, after `/v1`. It is read once: what was allowed is what is done.
    pub(crate) pieces: Vec<String>,
}

/// Lets those through who may have what they ask for. What changes something, or is refused, is written down before it is
/// answered.
pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let named = named(&app, &request);
    // Where nothing is either, below `/api/`, who asks must be known.
    let is_route = request.extensions().get::<MatchedPath>().is_some();
    if named.is_ok() && !is_route && !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    let asked = asked(&mut request).await;
    let mut pending = app.audit.begin(&request, &asked);
    let admitted = named.and_then(|()| admit(&app, &request, &asked, &mut |caller| pending.is_by(caller)));
    let response = match admitted {
        Ok(admitted) => {
            let verb = asked.verb;
            request.extensions_mut().insert(asked);
            admitted.caller.map(|caller| request.extensions_mut().insert(caller));
            admitted.permit.map(|permit| request.extensions_mut().insert(permit));
            if verb.entry == Entry::Always {
                pending.must_be_written();
            }
            let response = next.run(request).await;
            if let Some(caller) = response.extensions().get::<Caller>() {
                pending.is_by(caller);
            }
            if !verb.leaves_entry(response.status()) {
                pending.leave_out();
                return response;
            }
            response
        }
        // So many of them would push out everything else.
        Err(refusal) if refusal.problem().kind == ProblemKind::TooManyRequests => {
            return refusal.into_response();
        }
        Err(refusal) => refusal.into_response(),
    };
    match pending.written(response.status()).await {
        Ok(()) => response,
        Err(error) => ProblemResponse::internal(&error).into_response(),
    }
}

/// Whether the request is for us, and from no page that may not use us.
fn named(app: &App, request: &Request) -> Result<()> {
    let checked = app.names.check(request.headers());
    checked.map_err(|refusal| app.limits.refused(peer(request), refusal))
}

fn peer(request: &Request) -> Option<PeerAddress> {
    request.extensions().get().copied()
}

/// What is asked for, as the router has read it.
async fn asked(request: &mut Request) -> Asked {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    let params = request.extract_parts::<RawPathParams>().await.ok();
    let param = |name: &str| {
        let mut params = params.iter().flatten();
        params.find(|(known, _)| *known == name).map(|(_, value)| value)
    };
    let runtime = param("runtime_id").and_then(|id| id.parse().ok());
    if route != Some(verb::FORWARD) {
        let worker = param("worker_id").and_then(|id| id.parse().ok());
        return Asked { verb: verb::ours(request.method(), route), runtime, worker, pieces: Vec::new() };
    }
    let pieces: Vec<&str> = param("path").unwrap_or_default().split('/').collect();
    let worker = match pieces[..] {
        ["sessions" | "workers", id, ..] => id.parse().ok(),
        _ => None,
    };
    let verb = verb::theirs(request.method(), &pieces);
    Asked { verb, runtime, worker, pieces: pieces.into_iter().map(str::to_owned).collect() }
}

/// What somebody is let in with.
#[derive(Default)]
struct Admitted {
    caller: Option<Caller>,
    permit: Option<Permit>,
}

fn admit(app: &App, request: &Request, asked: &Asked, known: &mut impl FnMut(&Caller)) -> Result<Admitted> {
    if asked.verb.need == Need::Nothing {
        return Ok(Admitted::default());
    }
    let caller = authenticate(app, request, asked)?;
    known(&caller);
    let permit = authorize(app, &caller, asked)?;
    Ok(Admitted { caller: Some(caller), permit })
}

/// Who asks: by a token in the head, or by the cookie of a browser that has logged in.
fn authenticate(app: &App, request: &Request, asked: &Asked) -> Result<Caller> {
    let needs_page_key = !asked.verb.only_identifies();
    let (headers, peer) = (request.headers(), peer(request));
    let kind = SessionCookie::for_request(headers, peer);
    let cookie = kind.read(headers);
    let (rights, by_cookie) = match (bearer_token(headers), &cookie) {
        // The secret of a cookie is good in the cookie only, where a browser checks who uses it.
        (Some(token), _) => (app.people.find(token).filter(|rights| !rights.token.is_session), false),
        (None, Some(secret)) => (app.people.find(secret).filter(|rights| rights.token.is_session), true),
        (None, None) => (None, false),
    };
    let Some(rights) = rights else { return Err(app.limits.not_let_in(peer)) };
    // A browser sends its cookie whichever page asks it to.
    if by_cookie && does_something(request.method(), headers) && !app.names.is_same_or_allowed_origin(headers)
    {
        let detail = "requests with a cookie must have an `Origin` of this hub";
        return Err(app.limits.refused(peer, ProblemResponse::new(ProblemKind::HostNotAllowed, detail)));
    }
    if let Some(secret) = cookie.filter(|_| by_cookie && needs_page_key)
        && !kind.has_page_key(&app.key, &secret, headers)
    {
        let detail = "requests with a cookie of this machine need the header `Tombolo-Page-Key`, with the `pageKey` that \
                      the login returned; log in again if it is lost";
        return Err(app.limits.refused(peer, ProblemResponse::new(ProblemKind::Forbidden, detail)));
    }
    app.limits.spend(rights.token.id)?;
    Ok(Caller::new(rights))
}

fn does_something(method: &Method, headers: &HeaderMap) -> bool {
    !method.is_safe() || headers.contains_key(header::UPGRADE)
}

/// Whether they may: where a role is needed the policy decides, for as long as it decides so.
fn authorize(app: &App, caller: &Caller, asked: &Asked) -> Result<Option<Permit>> {
    let verb = asked.verb;
    match verb.need {
        Need::Nothing | Need::Token => Ok(None),
        Need::Admin if caller.is_admin() => Ok(None),
        Need::Admin => {
            let detail = format!("`{}` needs an unscoped token of a hub administrator", verb.name);
            Err(ProblemResponse::new(ProblemKind::Forbidden, detail))
        }
        Need::Role(role) => {
            let Some(id) = &asked.runtime else {
                return Err(ProblemResponse::new(ProblemKind::InvalidRequest, "the runtime id is invalid"));
            };
            let registered = app.registry.get(id).filter(|runtime| caller.sees(&runtime.workspace));
            let workspace = registered.ok_or_else(|| no_runtime(id))?.workspace;
            let standing = Standing::new(&app.people, caller.token);
            let eye = Eye::new(caller.rights.who_in(&workspace), Some(standing), &app.policies);
            let mut permit = Permit::new(eye, (verb, role), (id.clone(), asked.worker.clone()));
            permit.check().map_err(|reason| ProblemResponse::new(ProblemKind::Forbidden, reason))?;
            Ok(Some(permit))
        }
    }
}

/// The same whether there is none or it is not for them.
pub(crate) fn no_runtime(id: &RuntimeId) -> ProblemResponse {
    ProblemResponse::new(ProblemKind::RuntimeNotFound, format!("runtime `{id}` does not exist"))
}
