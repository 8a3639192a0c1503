//! A session that is to use a device: what is said of it in `environment` becomes an MCP server of the session.

use axum::{body::Body, extract::Query};
use bytes::Bytes;
use http::{HeaderMap, Uri, header};
use hub_access::{Principal, policy::SessionRules, runtime_not_found};
use protocol::{
    EnvironmentId, ProblemKind, RuntimeId, SessionId, WorkspaceName,
    lending::{CreateEnvironmentRequest, EnvironmentSpec},
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use server::{ErrorChain, ProblemResponse, Result, request_body};
use tracing::error;

use crate::{app::App, relay::Relay, routes::relay::not_added};

/// The largest description of a session: as large as a daemon takes it.
const BODY_BYTES_MAX: usize = 1 << 20;

/// The member that says which device a session is to use.
const ENVIRONMENT: &str = "environment";

/// The member that says which MCP servers it has.
const MCP: &str = "mcp";

/// What the server of the device is called in a session, unless something else is.
const NAME: &str = "device";

/// What is passed on to the runtime, and the environment that was made for it.
pub(super) struct Described {
    pub(super) body: Bytes,
    pub(super) environment: Option<Reserved>,
}

/// An environment of a session that is to be made. It is ended with this unless there is one: whoever asked may be gone before
/// the runtime has heard of it.
pub(super) struct Reserved {
    relay: Relay,
    id: EnvironmentId,
    is_used: bool,
}

impl Reserved {
    /// There is a session that uses it.
    pub(super) fn keep(mut self) {
        self.is_used = true;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if self.is_used {
            return;
        }
        if let Err(error) = self.relay.end_environments(|entry| entry.id == self.id) {
            error!(error = %ErrorChain(&error), "could not end the environment of a session that was not created");
        }
    }
}

/// Reads the description of a session; makes the environment that it asks for.
pub(super) async fn describe(
    app: &App,
    caller: &Principal,
    (runtime, session): (&RuntimeId, &SessionId),
    body: Body,
) -> Result<Described> {
    let body = request_body::collect(body, BODY_BYTES_MAX, app.keep_alive.idle_timeout).await?;
    let registered = app.registry.get(runtime).ok_or_else(|| runtime_not_found(runtime))?;
    let rules = app.access.policy.session_rules_for(&caller.rights.subject_in(&registered.workspace));
    let body = match rules {
        Some(rules) if !body.is_empty() => checked(&rules, &registered.workspace, &body)?,
        _ => body,
    };
    let Some((mut description, using)) = read(&body)? else {
        return Ok(Described { body, environment: None });
    };
    let session_id = Some(session.clone());
    let add = CreateEnvironmentRequest { runtime_id: runtime.clone(), session_id, run_id: None, using };
    let made = app.relay.add_environment(add, &caller.rights);
    let (environment, secret) = made.map_err(|error| not_added(&error))?;
    let id = environment.entry.id;
    let reserved = Reserved { relay: app.relay.clone(), id, is_used: false };
    let url = format!("{}/api/v1/relay/environments/{id}/mcp", app.public_url());
    let server = json!({
        "type": "remote", "url": url, "transport": "http", "oauth": false,
        "headers": { "Authorization": format!("Bearer {}", secret.expose_secret()) },
    });
    put(&mut description, server);
    let body = serde_json::to_vec(&description).unwrap_or_default().into();
    Ok(Described { body, environment: Some(reserved) })
}

/// The request of a controller, if it chooses nothing that is for owners. It is written anew, so that the runtime reads
/// exactly what was checked.
fn checked(rules: &SessionRules, workspace: &WorkspaceName, body: &[u8]) -> Result<Bytes> {
    let mut request: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
        ProblemResponse::new(ProblemKind::InvalidRequest, format!("the body must be a JSON object: {error}"))
    })?;
    let checked = rules.check(workspace, &mut request);
    checked.map_err(|error| ProblemResponse::new(ProblemKind::Forbidden, error.to_string()))?;
    Ok(serde_json::to_vec(&request).unwrap_or_default().into())
}

/// The query of a request that may start an agent.
#[derive(Default, Deserialize)]
struct AskingQuery {
    directory: Option<String>,
}

/// Checks the directory in which an agent may be started to say what it offers, as that of a session is checked.
pub(super) fn check_directory(
    app: &App,
    caller: &Principal,
    workspace: &WorkspaceName,
    uri: &Uri,
) -> Result<()> {
    let Some(rules) = app.access.policy.session_rules_for(&caller.rights.subject_in(workspace)) else {
        return Ok(());
    };
    let query = Query::<AskingQuery>::try_from_uri(uri).map_err(|error| {
        ProblemResponse::new(ProblemKind::InvalidRequest, format!("the query is not valid: {error}"))
    })?;
    let mut request = Map::from_iter([("directory".to_owned(), query.0.directory.into())]);
    let checked = rules.check(workspace, &mut request);
    checked.map_err(|error| ProblemResponse::new(ProblemKind::Forbidden, error.to_string()))
}

/// What is said without `environment`, and what that says; nothing if it says nothing.
fn read(body: &[u8]) -> Result<Option<(Map<String, Value>, EnvironmentSpec)>> {
    // What is no object is refused by the runtime, in its own words.
    let Ok(mut description) = serde_json::from_slice::<Map<String, Value>>(body) else { return Ok(None) };
    let Some(said) = description.remove(ENVIRONMENT).filter(|said| !said.is_null()) else { return Ok(None) };
    let using = serde_json::from_value(said).map_err(|error| {
        ProblemResponse::new(ProblemKind::InvalidRequest, format!("`{ENVIRONMENT}`: {error}"))
    })?;
    Ok(Some((description, using)))
}

/// Adds the server, under a name that no other has.
fn put(description: &mut Map<String, Value>, server: Value) {
    let servers = description.entry(MCP).or_insert_with(|| json!({}));
    if let Value::Object(servers) = servers {
        let mut names = std::iter::once(NAME.to_owned()).chain((2..).map(|number| format!("{NAME}{number}")));
        if let Some(name) = names.find(|name| !servers.contains_key(name)) {
            servers.insert(name, server);
        }
    }
}

/// The headers of a body that was changed: it has another length, and is not packed.
pub(super) fn headers(mut headers: HeaderMap) -> HeaderMap {
    headers.remove(header::CONTENT_LENGTH);
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_put_beside_other_servers() {
        let body =
            br#"{ "agent": "mock", "environment": { "clientId": "laptop" }, "mcp": { "device": {} } }"#;
        let (mut description, using) = read(body).unwrap().unwrap();
        assert_eq!(using.client_id.as_str(), "laptop");
        put(&mut description, json!({ "type": "remote" }));
        assert_eq!(
            Value::Object(description),
            json!({ "agent": "mock", "mcp": { "device": {}, "device2": { "type": "remote" } } })
        );
        for nothing in [&b"{}"[..], b"[]", b"no json", br#"{ "environment": null }"#] {
            assert!(read(nothing).unwrap().is_none());
        }
        assert!(read(br#"{ "environment": { "clientId": "no name" } }"#).is_err());
    }
}
