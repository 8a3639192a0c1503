//! `/v1/agents`: the known agents, and their installation.

mod install;

use std::sync::Arc;

use agent_catalog::Definition;
use axum::{Json, extract::State};
use protocol::{
    AgentName, ProblemKind,
    agents::{Agent, AgentList, AgentModeList, AgentModelList},
};
use serde::Deserialize;
use server::{
    RouteCollector,
    extract::{Path, Query},
    routes,
};
use utoipa::IntoParams;

use super::Problems;
use crate::{
    api_error::{ApiError, Result},
    app::App,
};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(list)).add(routes!(install::install)).add(routes!(modes)).add(routes!(models));
}

/// List the known agents.
#[utoipa::path(get, path = "/v1/agents", tag = "agents", responses((status = OK, body = AgentList), Problems))]
async fn list(State(app): State<App>) -> Json<AgentList> {
    let (mut items, running) = (Vec::new(), app.sessions.running());
    for agent in app.installer.agents().await.iter() {
        let running = running.get(&agent.id).copied().unwrap_or_default();
        items.push(describe(&app, agent, running).await);
    }
    Json(AgentList { items, next_cursor: None })
}

async fn describe(app: &App, agent: &Definition, running_sessions: u64) -> Agent {
    let presence = app.installer.presence(agent).await;
    Agent {
        id: agent.id.clone(),
        name: agent.name.clone(),
        description: agent.description.clone(),
        note: agent.note.clone(),
        installed: presence.program.is_some(),
        version: presence.version,
        path: presence.program.map(|path| path.display().to_string()),
        verified: presence.verified,
        source: agent.source,
        installable_from: presence.sources,
        credentials_found: !app.installer.credentials(agent).await.is_empty(),
        protocol: agent.protocol,
        capabilities: agent.capabilities,
        running_instances: app.instances.running_count(&agent.id) as u64,
        running_sessions,
    }
}

/// The directory that the agent would work in.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AgentDirectoryQuery {
    /// The directory of the session, as an absolute path; the daemon's own if left out. Some agents read modes and models from
    /// the project.
    #[param(pattern = "^/", max_length = 4096)]
    directory: Option<String>,
}

/// List the modes that sessions of an agent accept.
///
/// An installed agent that has not told its modes yet is started and asked.
#[utoipa::path(
    get, path = "/v1/agents/{agent}/modes", tag = "agents",
    params(("agent" = String, Path, pattern = "^[a-z0-9][a-z0-9._-]{0,63}$", description = "The agent"), AgentDirectoryQuery),
    responses((status = OK, body = AgentModeList), Problems)
)]
async fn modes(
    State(app): State<App>,
    Path(name): Path<AgentName>,
    Query(query): Query<AgentDirectoryQuery>,
) -> Result<Json<AgentModeList>> {
    find(&app, &name).await?;
    Ok(Json(app.sessions.modes(&name, query.directory.as_deref()).await?))
}

/// List the models of an agent.
///
/// An installed agent that has not told its models yet is started and asked.
#[utoipa::path(
    get, path = "/v1/agents/{agent}/models", tag = "agents",
    params(("agent" = String, Path, pattern = "^[a-z0-9][a-z0-9._-]{0,63}$", description = "The agent"), AgentDirectoryQuery),
    responses((status = OK, body = AgentModelList), Problems)
)]
async fn models(
    State(app): State<App>,
    Path(name): Path<AgentName>,
    Query(query): Query<AgentDirectoryQuery>,
) -> Result<Json<AgentModelList>> {
    find(&app, &name).await?;
    Ok(Json(app.sessions.models(&name, query.directory.as_deref()).await?))
}

async fn find(app: &App, name: &AgentName) -> Result<Arc<Definition>> {
    let found = app.installer.find_agent(name).await;
    found.map_err(|unknown| ApiError::new(ProblemKind::AgentNotFound, unknown.to_string()))
}
