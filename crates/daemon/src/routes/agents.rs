//! `/v1/agents`: the known agents, and their installation.

mod install;

use std::sync::Arc;

use agents::Definition;
use axum::{Json, extract::State};
use protocol::{
    AgentName, ProblemKind,
    agents::{Agent, AgentList, AgentModeList, AgentModelList},
};
use server::{RouteCollector, extract::Path, routes};

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
    let mut items = Vec::new();
    for agent in app.installer.agents().await.iter() {
        items.push(describe(&app, agent).await);
    }
    Json(AgentList { items, next_cursor: None })
}

async fn describe(app: &App, agent: &Definition) -> Agent {
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
    }
}

/// List the modes of an agent.
#[utoipa::path(
    get, path = "/v1/agents/{agent}/modes", tag = "agents",
    params(("agent" = String, Path, description = "The agent")),
    responses((status = OK, body = AgentModeList), Problems)
)]
async fn modes(State(app): State<App>, Path(name): Path<AgentName>) -> Result<Json<AgentModeList>> {
    Ok(Json(AgentModeList { modes: find(&app, &name).await?.modes.clone() }))
}

/// List the models of an agent.
#[utoipa::path(
    get, path = "/v1/agents/{agent}/models", tag = "agents",
    params(("agent" = String, Path, description = "The agent")),
    responses((status = OK, body = AgentModelList), Problems)
)]
async fn models(State(app): State<App>, Path(name): Path<AgentName>) -> Result<Json<AgentModelList>> {
    Ok(Json(AgentModelList { items: find(&app, &name).await?.models.clone(), next_cursor: None }))
}

async fn find(app: &App, name: &AgentName) -> Result<Arc<Definition>> {
    let found = app.installer.find_agent(name).await;
    found.map_err(|unknown| ApiError::new(ProblemKind::AgentNotFound, unknown.to_string()))
}
