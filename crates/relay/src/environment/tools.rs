//! The tools of a device.

mod known;

use async_trait::async_trait;
use futures_util::StreamExt;
use protocol::relay::{
    RelayError, RelayErrorCode, ToolName,
    method::{EmptyObject, RelayMethod, ToolCall, ToolList},
    tool::{CallTool, ToolCallResult, ToolDescriptor, ToolProgress},
};
use serde_json::{Map, Value};
use tokio::sync::watch;

pub(super) use known::Known;

use super::{Environment, Error};
use crate::{Call, Part};

/// The number of times that the list is requested again because the tools changed during the request.
const REFRESHES_MAX: usize = 8;

/// The tools of a device.
#[async_trait]
pub trait Toolset: Send + Sync {
    /// The current tools. The first call requests them from the device; later ones use its events.
    ///
    /// # Errors
    /// The error of the device or the relay.
    async fn list(&self) -> Result<Vec<ToolDescriptor>, Error>;

    /// Calls a tool.
    ///
    /// # Errors
    /// [`Error::Arguments`] if the arguments do not match the schema of the tool; then the call is not sent. A failure within the tool
    /// is not an error but a result.
    async fn call(&self, name: &ToolName, arguments: Map<String, Value>) -> Result<ToolCallResult, Error>;

    /// A counter that changes with the tools.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// The tools of an environment.
#[derive(Debug, Clone)]
pub struct Tools(pub(super) Environment);

impl Tools {
    fn known(&self) -> &Known {
        &self.0.shared.tools
    }

    /// The known tools; `None` before the first request.
    pub fn listed(&self) -> Option<Vec<ToolDescriptor>> {
        self.known().list()
    }

    /// Starts a call of a tool, and returns it with its progress.
    ///
    /// # Errors
    /// As [`Toolset::call`].
    pub async fn start(&self, name: &ToolName, arguments: Map<String, Value>) -> Result<ToolUse, Error> {
        self.list().await?;
        let Some(schema) = self.known().schema(name) else {
            return Err(RelayError::new(RelayErrorCode::NotFound, "the device has no such tool")
                .with("tool", name.as_str())
                .into());
        };
        schema.check(&arguments).map_err(|error| Error::Arguments { tool: name.clone(), error })?;
        let params = CallTool { name: name.clone(), arguments, call_id: None };
        Ok(ToolUse(self.0.start::<ToolCall>(&params, None).await))
    }

    /// Requests the tools from the device, even if they are known.
    ///
    /// # Errors
    /// The error of the device or the relay.
    pub async fn refresh(&self) -> Result<Vec<ToolDescriptor>, Error> {
        for _ in 0..REFRESHES_MAX {
            let version = self.known().version();
            let list = self.0.ask::<ToolList>(&EmptyObject {}).await?;
            if self.known().set(&list, version) {
                return Ok(self.known().list().unwrap_or_default());
            }
        }
        Err(RelayError::new(RelayErrorCode::ProviderError, "the device's tools keep changing; try again")
            .into())
    }
}

#[async_trait]
impl Toolset for Tools {
    async fn list(&self) -> Result<Vec<ToolDescriptor>, Error> {
        match self.known().list() {
            Some(tools) => Ok(tools),
            None => self.refresh().await,
        }
    }

    async fn call(&self, name: &ToolName, arguments: Map<String, Value>) -> Result<ToolCallResult, Error> {
        self.start(name, arguments).await?.outcome().await
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.known().changes()
    }
}

/// A running call of a tool.
pub struct ToolUse(Call);

impl ToolUse {
    /// Waits for the next report of progress, or for the end. Cancel safe.
    pub async fn next(&mut self) -> ToolStep {
        loop {
            match self.0.next().await {
                Some(Part::Stream(frame)) if frame.event == "progress" => {
                    if let Ok(progress) = frame.data.read() {
                        return ToolStep::Progress(progress);
                    }
                }
                Some(Part::Stream(_)) => {}
                Some(Part::Outcome(outcome)) => {
                    let outcome = outcome.and_then(|outcome| ToolCall::result(&outcome));
                    return ToolStep::Ended(outcome.map_err(Error::from));
                }
                None => {
                    return ToolStep::Ended(Err(Error::Disconnected(
                        "the tool ended without a result".into(),
                    )));
                }
            }
        }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The error of the device or the relay.
    pub async fn outcome(mut self) -> Result<ToolCallResult, Error> {
        loop {
            if let ToolStep::Ended(outcome) = self.next().await {
                return outcome;
            }
        }
    }
}

/// The next event of a running call.
#[derive(Debug)]
pub enum ToolStep {
    /// Its progress.
    Progress(ToolProgress),
    /// Its result; nothing follows.
    Ended(Result<ToolCallResult, Error>),
}
