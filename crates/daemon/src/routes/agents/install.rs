//! Installing an agent: answered when it is done, or followed as it goes on.

use std::sync::Arc;

use agents::{
    Definition, Want,
    install::{Ask, Installation},
};
use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, header};
use protocol::{
    AgentName, ProblemKind,
    agents::{AgentInstalled, AgentSource, InstallAgentRequest},
};
use server::{
    extract::{OptionalJson, Path},
    sse,
};

use super::{super::Problems, find};
use crate::{
    app::App,
    problem::{ApiError, Result},
};

/// Install an agent, unless it is there already.
///
/// With `Accept: text/event-stream` the installation is followed: `progress` events, and `done` or `failed` at the
/// end. It goes on if the connection ends; whoever asks again follows the same one.
#[utoipa::path(
    post, path = "/v1/agents/{agent}/install", tag = "agents", request_body = Option<InstallAgentRequest>,
    params(
        ("agent" = String, Path, description = "The agent"),
        ("accept" = Option<String>, Header, description = "`text/event-stream` to follow the installation"),
    ),
    responses(
        (status = OK, description = "It is installed; or, followed, `progress` events (`InstallProgress`) and then `done` (`Installed`) or `failed` (`Problem`)",
            content((AgentInstalled = "application/json"), (String = "text/event-stream"))),
        Problems,
    )
)]
pub(super) async fn install(
    State(app): State<App>,
    Path(name): Path<AgentName>,
    headers: HeaderMap,
    OptionalJson(options): OptionalJson<InstallAgentRequest>,
) -> Result<Response> {
    let agent = find(&app, &name).await?;
    let want = Want::parse(options.version.as_deref())
        .map_err(|error| ApiError::new(ProblemKind::InvalidRequest, error.to_string()))?;
    let installation = match agent.source {
        AgentSource::Catalog | AgentSource::Registry => {
            let ask = Ask { want, again: options.reinstall, apart: false };
            Some(app.installer.install(&agent, &ask).await.map_err(|error| ApiError::from(&*error))?)
        }
        AgentSource::BuiltIn | AgentSource::User => {
            nothing_to_do(&app, &agent, options.version).await?;
            None
        }
    };
    if is_followed(&headers) {
        return Ok(sse::response(follow(app, agent, installation)));
    }
    Ok(Json(finish(&app, &agent, installation).await?).into_response())
}

/// What is not installed by us is there already, or cannot be installed.
async fn nothing_to_do(app: &App, agent: &Definition, version: Option<String>) -> Result<()> {
    let name = &agent.id;
    if version.is_some_and(|version| Some(version) != agent.version) {
        let detail =
            format!("agent `{name}` is not installed by the daemon, so its version cannot be chosen");
        return Err(ApiError::new(ProblemKind::InstallUnavailable, detail));
    }
    if app.installer.presence(agent).await.program.is_some() {
        return Ok(());
    }
    if !app.installer.is_allowed() {
        let detail = format!("agent `{name}` is not there, and this daemon installs nothing");
        return Err(ApiError::new(ProblemKind::Forbidden, detail));
    }
    let whose = if agent.source == AgentSource::User {
        "defined by the user, who installs it"
    } else {
        "built in, but gone"
    };
    Err(ApiError::new(ProblemKind::InstallUnavailable, format!("agent `{name}` is {whose}")))
}

fn is_followed(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|one| one.trim().starts_with("text/event-stream"))
}

async fn finish(app: &App, agent: &Definition, installation: Option<Installation>) -> Result<AgentInstalled> {
    let anything = match installation {
        Some(installation) => installation.finish().await.map_err(|error| ApiError::from(&*error))?,
        None => false,
    };
    let presence = app.installer.presence(agent).await;
    Ok(AgentInstalled {
        agent: agent.id.clone(),
        already_installed: !anything,
        version: presence.version,
        path: presence.program.map(|path| path.display().to_string()),
    })
}

/// The events of an installation, to its end.
fn follow(
    app: App,
    agent: Arc<Definition>,
    installation: Option<Installation>,
) -> stream::BoxStream<'static, Bytes> {
    let events = stream::unfold(Some(installation), move |left| {
        let (app, agent) = (app.clone(), agent.clone());
        async move {
            let mut installation = left?;
            if let Some(running) = &mut installation
                && let Some(progress) = running.next().await
            {
                return Some((sse::event("progress", &progress), Some(installation)));
            }
            let last = match finish(&app, &agent, installation).await {
                Ok(installed) => sse::event("done", &installed),
                Err(error) => sse::event("failed", error.problem()),
            };
            Some((last, None))
        }
    });
    events.boxed()
}
