//! An installation, as it goes on.

use protocol::agents::{AgentInstalled, InstallProgress};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use sse::SseParser;

use crate::error::{Error, Refusal, Result};

/// Something that an installation tells.
#[derive(Debug, Clone, PartialEq)]
pub enum InstallEvent {
    /// How far a part of it is.
    Progress(InstallProgress),
    /// It is installed: the end.
    Done(AgentInstalled, String),
}

/// The events of one installation, to its end. A failure is an error; the installation goes on if this is dropped.
#[derive(Debug)]
pub struct InstallEvents {
    response: Response,
    parser: SseParser,
}

impl InstallEvents {
    pub(crate) fn new(response: Response) -> Self {
        Self { response, parser: SseParser::default() }
    }

    /// The next event; `None` after the last. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Result<Option<InstallEvent>> {
        loop {
            while let Some(frame) = self.parser.pop() {
                let frame =
                    frame.map_err(|error| Error::unexpected(StatusCode::OK, error.to_string(), b""))?;
                match frame.event.as_str() {
                    "progress" => return Ok(Some(InstallEvent::Progress(read(&frame.data)?))),
                    "done" => return Ok(Some(InstallEvent::Done(read(&frame.data)?, frame.data))),
                    "failed" => return Err(refused(frame.data)?),
                    _ => {} // something that a newer daemon tells
                }
            }
            let Some(piece) = self.response.chunk().await? else { return Ok(None) };
            self.parser.push(&piece);
        }
    }
}

fn read<T: DeserializeOwned>(data: &str) -> Result<T> {
    serde_json::from_str(data).map_err(|error| {
        Error::unexpected(StatusCode::OK, format!("an event cannot be read: {error}"), data.as_bytes())
    })
}

/// The problem that an installation ended with, as if it had been the answer.
fn refused(data: String) -> Result<Error> {
    #[derive(serde::Deserialize)]
    struct Status {
        status: u16,
    }
    let status: Status = read(&data)?;
    let status = StatusCode::from_u16(status.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok(Error::Problem(Box::new(Refusal::parse(status, data.into())?)))
}
