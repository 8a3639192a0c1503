//! The progress of an installation.

use protocol::agents::{AgentInstalled, InstallProgress};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use sse::SseParser;

use crate::error::{Error, ProblemDetails, Result};

/// An event of an installation.
#[derive(Debug, Clone, PartialEq)]
pub enum InstallEvent {
    /// The progress of one component.
    Progress(InstallProgress),
    /// The agent is installed. The last event, parsed and as the original JSON.
    Done(AgentInstalled, String),
}

/// The events of one installation. A failed installation is an error. Dropping this does not stop the installation.
#[derive(Debug)]
pub struct InstallEvents {
    response: Response,
    parser: SseParser,
}

impl InstallEvents {
    pub(crate) fn new(response: Response) -> Self {
        Self { response, parser: SseParser::default() }
    }

    /// The next event; `None` after the last. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<InstallEvent>> {
        loop {
            while let Some(frame) = self.parser.pop() {
                let frame =
                    frame.map_err(|error| Error::unexpected(StatusCode::OK, error.to_string(), b""))?;
                match frame.event.as_str() {
                    "progress" => return Ok(Some(InstallEvent::Progress(read(&frame.data)?))),
                    "done" => return Ok(Some(InstallEvent::Done(read(&frame.data)?, frame.data))),
                    "failed" => return Err(install_error(frame.data)?),
                    _ => {} // an event that only a newer daemon has
                }
            }
            let Some(chunk) = self.response.chunk().await? else { return Ok(None) };
            self.parser.push(&chunk);
        }
    }
}

fn read<T: DeserializeOwned>(data: &str) -> Result<T> {
    serde_json::from_str(data).map_err(|error| {
        Error::unexpected(StatusCode::OK, format!("an event is invalid: {error}"), data.as_bytes())
    })
}

/// The problem document of a failed installation, as if it had been the response.
fn install_error(data: String) -> Result<Error> {
    #[derive(serde::Deserialize)]
    struct ProblemStatus {
        status: u16,
    }
    let problem: ProblemStatus = read(&data)?;
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok(Error::Problem(Box::new(ProblemDetails::parse(status, data.into())?)))
}
