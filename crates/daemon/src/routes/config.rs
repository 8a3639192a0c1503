//! `/v1/config`: the MCP servers and skills of a directory. These routes only store them; sessions use them.

use axum::{Json, extract::State};
use http::StatusCode;
use protocol::config::{McpServer, McpServerList, Skill, SkillList};
use serde::Deserialize;
use server::{
    RouteCollector,
    extract::{self, Query},
    routes,
};
use utoipa::IntoParams;

use super::Problems;
use crate::{
    api_error::Result,
    app::App,
    config_store::{ConfigDirectory, EntryName},
};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(read_mcp, write_mcp, delete_mcp)).add(routes!(
        read_skill,
        write_skill,
        delete_skill
    ));
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct McpQuery {
    /// The directory that the server belongs to, as an absolute path.
    #[param(value_type = String, pattern = "^/", max_length = 4096)]
    directory: ConfigDirectory,
    /// The name of the entry.
    #[param(value_type = String, min_length = 1, max_length = 256)]
    mcp_name: EntryName,
}

/// One entry, or all of the directory.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct McpReadQuery {
    /// The directory that the server belongs to, as an absolute path.
    #[param(value_type = String, pattern = "^/", max_length = 4096)]
    directory: ConfigDirectory,
    /// The name of the entry; all servers of the directory if left out.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    mcp_name: Option<EntryName>,
}

/// Read one MCP server of a directory, or all of them.
#[utoipa::path(
    get, path = "/v1/config/mcp", tag = "config", params(McpReadQuery),
    responses((status = OK, description = "The server, or all servers if no name was given", body = inline(OneOrAll<McpServer, McpServerList>)), Problems)
)]
async fn read_mcp(
    State(app): State<App>,
    Query(query): Query<McpReadQuery>,
) -> Result<Json<OneOrAll<McpServer, McpServerList>>> {
    Ok(Json(match &query.mcp_name {
        Some(name) => OneOrAll::One(app.store.mcp.read(&query.directory, name).await?),
        None => {
            let items = app.store.mcp.list(&query.directory).await?;
            OneOrAll::All(McpServerList { items, next_cursor: None })
        }
    }))
}

/// Store one MCP server of a directory.
#[utoipa::path(
    put, path = "/v1/config/mcp", tag = "config", params(McpQuery), request_body = McpServer,
    responses((status = NO_CONTENT, description = "Stored"), Problems)
)]
async fn write_mcp(
    State(app): State<App>,
    Query(query): Query<McpQuery>,
    extract::Json(server): extract::Json<McpServer>,
) -> Result<StatusCode> {
    app.store.mcp.write(query.directory, query.mcp_name, server).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete one MCP server of a directory.
#[utoipa::path(
    delete, path = "/v1/config/mcp", tag = "config", params(McpQuery),
    responses((status = NO_CONTENT, description = "Deleted, or did not exist"), Problems)
)]
async fn delete_mcp(State(app): State<App>, Query(query): Query<McpQuery>) -> Result<StatusCode> {
    app.store.mcp.delete(query.directory, query.mcp_name).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SkillQuery {
    /// The directory that the skill belongs to, as an absolute path.
    #[param(value_type = String, pattern = "^/", max_length = 4096)]
    directory: ConfigDirectory,
    /// The name of the entry.
    #[param(value_type = String, min_length = 1, max_length = 256)]
    skill_name: EntryName,
}

/// One entry, or all of the directory.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SkillReadQuery {
    /// The directory that the skill belongs to, as an absolute path.
    #[param(value_type = String, pattern = "^/", max_length = 4096)]
    directory: ConfigDirectory,
    /// The name of the entry; all skills of the directory if left out.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    skill_name: Option<EntryName>,
}

/// Read one skill of a directory, or all of them.
#[utoipa::path(
    get, path = "/v1/config/skills", tag = "config", params(SkillReadQuery),
    responses((status = OK, description = "The skill, or all skills if no name was given", body = inline(OneOrAll<Skill, SkillList>)), Problems)
)]
async fn read_skill(
    State(app): State<App>,
    Query(query): Query<SkillReadQuery>,
) -> Result<Json<OneOrAll<Skill, SkillList>>> {
    Ok(Json(match &query.skill_name {
        Some(name) => OneOrAll::One(app.store.skills.read(&query.directory, name).await?),
        None => {
            let items = app.store.skills.list(&query.directory).await?;
            OneOrAll::All(SkillList { items, next_cursor: None })
        }
    }))
}

/// Store one skill of a directory.
#[utoipa::path(
    put, path = "/v1/config/skills", tag = "config", params(SkillQuery), request_body = Skill,
    responses((status = NO_CONTENT, description = "Stored"), Problems)
)]
async fn write_skill(
    State(app): State<App>,
    Query(query): Query<SkillQuery>,
    extract::Json(skill): extract::Json<Skill>,
) -> Result<StatusCode> {
    app.store.skills.write(query.directory, query.skill_name, skill).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete one skill of a directory.
#[utoipa::path(
    delete, path = "/v1/config/skills", tag = "config", params(SkillQuery),
    responses((status = NO_CONTENT, description = "Deleted, or did not exist"), Problems)
)]
async fn delete_skill(State(app): State<App>, Query(query): Query<SkillQuery>) -> Result<StatusCode> {
    app.store.skills.delete(query.directory, query.skill_name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The entry that was named, or all entries if none was.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
enum OneOrAll<One, All> {
    One(One),
    All(All),
}
