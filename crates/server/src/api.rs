//! What the description of an API always has, and what answers where there is no route.

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

use crate::Refusal;

/// Every route may answer with a problem; its `status` says which.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "describes the responses; nothing is ever made of it")]
#[response(status = "default", description = "A problem", content_type = "application/problem+json")]
pub struct Problems(#[to_schema] Problem);

/// Who asks shows a token.
pub struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, openapi: &mut OpenApi) {
        let browsers = "A browser's WebSocket, which has no headers, offers the sub-protocols `tombolo` and \
                        `tombolo.bearer.` followed by the token as base64url.";
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(browsers)).build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The OpenAPI document: paths as the handlers declare them, schemas as the wire types have them.
///
/// An operation is called by its tag and its handler, such as `sessions_list`. The prefix is before that, so that nothing of one
/// server is called as something of another: there are clients that are made from the documents of several.
pub fn document(openapi: OpenApi, prefix: &str) -> Value {
    let mut document = serde_json::to_value(openapi).unwrap_or_default();
    // What no path refers to is among the components, such as what is said over a WebSocket.
    let components = document["components"]["schemas"].as_object().into_iter().flat_map(Map::keys).cloned();
    let schemas = protocol::schemas(&components.chain(references(&document["paths"])).collect());
    for operation in members(&mut document["paths"]).flat_map(members) {
        let (tag, handler) = (operation["tags"][0].as_str(), operation["operationId"].as_str());
        let name = format!("{prefix}{}_{}", tag.unwrap_or_default(), handler.unwrap_or_default());
        operation["operationId"] = name.into();
        describe_bytes(&mut operation["requestBody"]);
        for response in members(&mut operation["responses"]) {
            describe(response, &schemas);
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

/// An answer of which nothing is said is what it holds: OpenAPI wants each to be described.
fn describe(response: &mut Value, schemas: &Map<String, Value>) {
    if response.get("description").is_none()
        && let Some(schema) = references(response).first().and_then(|name| schemas.get(name))
    {
        response["description"] = schema["description"].clone();
    }
}

fn members(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.as_object_mut().into_iter().flat_map(Map::values_mut)
}

/// The names of the schemas that a part of a document refers to.
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

/// Tells whoever asks for what is not there.
pub fn with_fallbacks<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    router.fallback(no_such_route).method_not_allowed_fallback(no_such_method)
}

async fn no_such_route(uri: Uri) -> Refusal {
    Refusal::new(ProblemKind::NotFound, format!("there is nothing at `{}`", uri.path()))
}

async fn no_such_method(method: Method, uri: Uri) -> Refusal {
    Refusal::new(ProblemKind::MethodNotAllowed, format!("`{}` cannot be used with {method}", uri.path()))
}
