//! `/v1/agents`: the programs that can be run.

use agents::Definition;
use axum::{Json, extract::State};
use protocol::{
    AgentName, Kind,
    agents::{Agent, AgentList, Capabilities, Install, Installed, ModeList, ModelList, Protocol, Source},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::Problems;
use crate::{
    app::App,
    extract::{OptionalJson, Path},
    problem::{ApiError, Result},
};

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(install))
        .routes(routes!(modes))
        .routes(routes!(models))
}

/// List the known agents.
#[utoipa::path(get, path = "/v1/agents", tag = "agents", responses((status = OK, body = AgentList), Problems))]
async fn list(State(app): State<App>) -> Json<AgentList> {
    let items = app.catalog.iter().map(|agent| describe(&app, agent)).collect();
    Json(AgentList { items, next_cursor: None })
}

fn describe(app: &App, agent: &Definition) -> Agent {
    let program = agent.program(app.catalog.path());
    Agent {
        id: agent.id.clone(),
        name: agent.name.clone(),
        installed: program.is_some(),
        version: agent.version.clone(),
        path: program.map(|path| path.display().to_string()),
        source: agent.source,
        // Neither the mock nor a program of the user's own needs any that we know of.
        credentials_found: false,
        protocol: agent.protocol,
        capabilities: Capabilities { acp: agent.protocol == Protocol::Acp },
        running_instances: app.instances.running(&agent.id) as u64,
    }
}

/// Install an agent, unless it is there already.
#[utoipa::path(
    post, path = "/v1/agents/{agent}/install", tag = "agents", request_body = Option<Install>,
    params(("agent" = String, Path, description = "The agent")),
    responses((status = OK, body = Installed), Problems)
)]
async fn install(
    State(app): State<App>,
    Path(name): Path<AgentName>,
    OptionalJson(options): OptionalJson<Install>,
) -> Result<Json<Installed>> {
    let agent = find(&app, &name)?;
    if options.version.is_some_and(|version| Some(version) != agent.version) {
        let detail =
            format!("agent `{name}` is not installed by the daemon, so its version cannot be chosen");
        return Err(ApiError::new(Kind::InstallUnavailable, detail));
    }
    let Some(program) = agent.program(app.catalog.path()) else {
        if !app.install {
            let detail = format!("agent `{name}` is not there, and this daemon installs nothing");
            return Err(ApiError::new(Kind::Forbidden, detail));
        }
        let detail = match agent.source {
            Source::BuiltIn => format!("agent `{name}` is built in, but the daemon's own program is gone"),
            Source::User => format!("agent `{name}` is defined by the user, who installs it"),
        };
        return Err(ApiError::new(Kind::InstallUnavailable, detail));
    };
    let path = Some(program.display().to_string());
    Ok(Json(Installed { agent: name, already_installed: true, version: agent.version.clone(), path }))
}

/// List the modes of an agent.
#[utoipa::path(
    get, path = "/v1/agents/{agent}/modes", tag = "agents",
    params(("agent" = String, Path, description = "The agent")),
    responses((status = OK, body = ModeList), Problems)
)]
async fn modes(State(app): State<App>, Path(name): Path<AgentName>) -> Result<Json<ModeList>> {
    Ok(Json(ModeList { modes: find(&app, &name)?.modes.clone() }))
}

/// List the models of an agent.
#[utoipa::path(
    get, path = "/v1/agents/{agent}/models", tag = "agents",
    params(("agent" = String, Path, description = "The agent")),
    responses((status = OK, body = ModelList), Problems)
)]
async fn models(State(app): State<App>, Path(name): Path<AgentName>) -> Result<Json<ModelList>> {
    Ok(Json(ModelList { models: find(&app, &name)?.models.clone() }))
}

fn find<'a>(app: &'a App, name: &AgentName) -> Result<&'a Definition> {
    let unknown = || ApiError::new(Kind::AgentNotFound, format!("there is no agent `{name}`"));
    app.catalog.get(name).ok_or_else(unknown)
}
