//! Installs an agent. The client waits for the end, or follows the progress.

use std::sync::Arc;

use agent_catalog::{Definition, Want};
use agent_install::{Ask, Installation, InstallationOutcome, UnverifiedPolicy};
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
    agents::{AgentInstalled, AgentSource, FailedComponent, InstallAgentRequest},
};
use server::{
    ErrorChain,
    extract::{OptionalJson, Path},
    sse,
};

use super::{super::Problems, find};
use crate::{
    api_error::{ApiError, Result},
    app::App,
};

/// Install an agent, unless it is installed already.
///
/// With `Accept: text/event-stream`, the response streams `progress` events, and finally `done` or `failed`. The
/// installation continues if the connection ends; the same request then follows it again.
#[utoipa::path(
    post, path = "/v1/agents/{agent}/install", tag = "agents", request_body = Option<InstallAgentRequest>,
    params(
        ("agent" = String, Path, pattern = "^[a-z0-9][a-z0-9._-]{0,63}$", description = "The agent"),
        ("accept" = Option<String>, Header, description = "`text/event-stream` to follow the installation"),
    ),
    responses(
        (status = OK, description = "The agent is installed. As a stream: `progress` events (`InstallProgress`), then `done` (`AgentInstalled`) or `failed` (`Problem`)",
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
            let unverified = UnverifiedPolicy::from_flag(options.allow_unverified);
            let ask = Ask { want, again: options.reinstall, apart: false, unverified };
            Some(app.installer.install(&agent, &ask).await.map_err(|error| ApiError::from(&*error))?)
        }
        AgentSource::BuiltIn | AgentSource::User => {
            check_present(&app, &agent, options.version).await?;
            None
        }
    };
    if wants_event_stream(&headers) {
        return Ok(sse::response(progress_events(app, agent, installation)));
    }
    Ok(Json(finish(&app, &agent, installation).await?).into_response())
}

/// Fails unless an agent that the daemon cannot install is already present.
async fn check_present(app: &App, agent: &Definition, version: Option<String>) -> Result<()> {
    let name = &agent.id;
    if version.is_some_and(|version| Some(version) != agent.version) {
        let detail = format!(
            "the daemon does not install agent `{name}`, so its version cannot be chosen; leave out `version`"
        );
        return Err(ApiError::new(ProblemKind::InstallUnavailable, detail));
    }
    if app.installer.presence(agent).await.program.is_some() {
        return Ok(());
    }
    if !app.installer.is_allowed() {
        let detail = format!(
            "agent `{name}` is not installed, and this daemon runs with --no-install; install it yourself"
        );
        return Err(ApiError::new(ProblemKind::Forbidden, detail));
    }
    let reason = if agent.source == AgentSource::User {
        "is defined in the configuration file; install its program yourself"
    } else {
        "is part of the daemon's own program, which is gone; install Tombolo again"
    };
    Err(ApiError::new(ProblemKind::InstallUnavailable, format!("agent `{name}` {reason}")))
}

fn wants_event_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|one| one.trim().starts_with("text/event-stream"))
}

async fn finish(app: &App, agent: &Definition, installation: Option<Installation>) -> Result<AgentInstalled> {
    let outcome = match installation {
        Some(installation) => installation.finish().await.map_err(|error| ApiError::from(&*error))?,
        None => InstallationOutcome::default(),
    };
    let failed = outcome.failed.into_iter().map(|(component, error)| FailedComponent {
        component: component.to_string(),
        reason: ErrorChain(&*error).to_string(),
    });
    let presence = app.installer.presence(agent).await;
    Ok(AgentInstalled {
        agent: agent.id.clone(),
        already_installed: !outcome.is_new,
        version: presence.version,
        path: presence.program.map(|path| path.display().to_string()),
        verified: presence.verified,
        failed: failed.collect(),
    })
}

/// The progress events of an installation, and its end.
fn progress_events(
    app: App,
    agent: Arc<Definition>,
    installation: Option<Installation>,
) -> stream::BoxStream<'static, Bytes> {
    let events = stream::unfold(Some(installation), move |state| {
        let app = app.clone();
        let agent = agent.clone();
        async move {
            let mut installation = state?;
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
