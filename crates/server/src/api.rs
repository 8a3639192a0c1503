//! The OpenAPI document of a server, and the responses to requests without a route.

use std::collections::BTreeSet;

use axum::Router;
use http::{Method, Uri};
use protocol::{Problem, ProblemKind};
use serde_json::{Map, Value, json};
use utoipa::{
    IntoResponses, Modify,
    openapi::{
        OpenApi,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::ProblemResponse;

/// The `default` response of every route: a problem document.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "declares the response for OpenAPI; never constructed")]
#[response(status = "default", description = "A problem", content_type = "application/problem+json")]
pub struct Problems(#[to_schema] Problem);

/// Adds the bearer token security scheme to the document.
pub struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, openapi: &mut OpenApi) {
        let browsers = "A browser's ServerWebSocket, which has no headers, offers the sub-protocols `tombolo` and \
                        `tombolo.bearer.` followed by the token as base64url.";
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(browsers)).build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The OpenAPI document: paths as the handlers declare them, schemas as the wire types have them.
///
/// An operation is named after its tag and handler, such as `sessions_list`. `prefix` keeps the names of several servers
/// distinct, because some clients are generated from more than one document.
pub fn document(openapi: OpenApi, prefix: &str) -> Value {
    let mut document = serde_json::to_value(openapi).unwrap_or_default();
    // Schemas that no path refers to, such as WebSocket messages, are listed under the components.
    let components = document["components"]["schemas"].as_object().into_iter().flat_map(Map::keys).cloned();
    let schemas = protocol::schemas(&components.chain(references(&document["paths"])).collect());
    for operation in members(&mut document["paths"]).flat_map(members) {
        let tag = operation["tags"][0].as_str().unwrap_or_default();
        let handler = operation["operationId"].as_str().unwrap_or_default();
        let name = format!("{prefix}{tag}_{handler}");
        operation["operationId"] = name.into();
        // Not by index, which would add a body of `null` to operations without one.
        if let Some(body) = operation.get_mut("requestBody") {
            describe_bytes(body);
        }
        for response in members(&mut operation["responses"]) {
            add_description(response, &schemas);
            describe_bytes(response);
        }
    }
    document["components"]["schemas"] = schemas.into();
    document
}

/// Marks a body of bytes as binary: generated clients encode a plain `string` as text.
fn describe_bytes(message: &mut Value) {
    if let Some(body) = message.pointer_mut("/content/application~1octet-stream") {
        body["schema"] = json!({ "type": "string", "format": "binary" });
    }
}

/// Describes a response without a description by its schema, as OpenAPI requires one.
fn add_description(response: &mut Value, schemas: &Map<String, Value>) {
    if response.get("description").is_none()
        && let Some(schema) = references(response).first().and_then(|name| schemas.get(name))
    {
        response["description"] = schema["description"].clone();
    }
}

fn members(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.as_object_mut().into_iter().flat_map(Map::values_mut)
}

/// The names of the schemas that `part` of a document refers to.
fn references(part: &Value) -> BTreeSet<String> {
    match part {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|reference| reference.strip_prefix("#/components/schemas/"));
            members.values().flat_map(references).chain(name.map(Into::into)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => BTreeSet::new(),
    }
}

/// Answers requests for unknown paths and methods with a problem document. `(prefix, hint)` is for clients that took this server
/// for another: the hint follows the message about a path with this prefix.
pub fn with_fallbacks<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    (prefix, hint): (&'static str, &'static str),
) -> Router<S> {
    let no_such_route = async move |uri: Uri| {
        let path = uri.path();
        let hint = if path.starts_with(prefix) { format!(": {hint}") } else { String::new() };
        ProblemResponse::new(ProblemKind::NotFound, format!("there is no route at `{path}`{hint}"))
    };
    router.fallback(no_such_route).method_not_allowed_fallback(no_such_method)
}

async fn no_such_method(method: Method, uri: Uri) -> ProblemResponse {
    ProblemResponse::new(ProblemKind::MethodNotAllowed, format!("`{}` does not support {method}", uri.path()))
}
