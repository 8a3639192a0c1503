//! The API: its routes and its description, from one list.

use axum::Router;
use http::{Method, Uri};
use protocol::Kind;
use serde_json::Value;
use server::Refusal;
use utoipa::{
    Modify, OpenApi,
    openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::router::OpenApiRouter;

use crate::{app::App, routes};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tombolo hub",
        description = "Knows many daemons: their sessions are watched through it, by people who hold neither address nor token of any. Every route of a daemon, but for WebSockets, is at `/api/runtimes/{runtime_id}` followed by its own path."
    ),
    modifiers(&BearerToken),
    security(("token" = [])),
)]
struct Description;

struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(routes::info::router())
        .merge(routes::runtimes::router())
        .merge(routes::workers::router())
}

/// What answers requests.
pub(crate) fn router(app: App) -> Router {
    let (router, _) = routes().split_for_parts();
    let router = router.merge(routes::forward::router());
    router.fallback(no_such_route).method_not_allowed_fallback(no_such_method).with_state(app)
}

/// The OpenAPI document: paths as the handlers declare them, schemas as the wire types have them.
pub fn document() -> Value {
    let (_, openapi) = routes().split_for_parts();
    let mut document = serde_json::to_value(openapi).unwrap_or_default();
    document["components"]["schemas"] = Value::Object(protocol::schemas());
    document
}

async fn no_such_route(uri: Uri) -> Refusal {
    Refusal::new(Kind::NotFound, format!("there is nothing at `{}`", uri.path()))
}

async fn no_such_method(method: Method, uri: Uri) -> Refusal {
    Refusal::new(Kind::MethodNotAllowed, format!("`{}` cannot be used with {method}", uri.path()))
}
