//! The tools of a device, as an agent has them.

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

/// How often a device is asked anew because its tools changed while it answered.
const REFRESHES_MAX: usize = 8;

/// The tools of a device, as an agent has them.
#[async_trait]
pub trait Toolset: Send + Sync {
    /// Those that there are now. The first time the device is asked; from then on they follow what it tells.
    ///
    /// # Errors
    /// As the device, or the relay, says.
    async fn list(&self) -> Result<Vec<ToolDescriptor>, Error>;

    /// Uses a tool.
    ///
    /// # Errors
    /// [`Error::Arguments`] if the arguments are not as the tool wants them: then the device is not asked. What
    /// goes wrong in the tool is no error but a result that says so.
    async fn call(&self, name: &ToolName, arguments: Map<String, Value>) -> Result<ToolCallResult, Error>;

    /// Changes whenever the tools do.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// The tools of an environment.
#[derive(Debug, Clone)]
pub struct Tools(pub(super) Environment);

impl Tools {
    fn known(&self) -> &Known {
        &self.0.shared.tools
    }

    /// The tools that the device has told; `None` if it has not been asked.
    pub fn listed(&self) -> Option<Vec<ToolDescriptor>> {
        self.known().list()
    }

    /// Begins to use a tool, for whoever wants to know how far it is.
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

    /// Asks the device which tools there are, whatever is known.
    ///
    /// # Errors
    /// As the device, or the relay, says.
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

/// A tool that is being used.
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
    /// As the device, or the relay, says.
    pub async fn outcome(mut self) -> Result<ToolCallResult, Error> {
        loop {
            if let ToolStep::Ended(outcome) = self.next().await {
                return outcome;
            }
        }
    }
}

/// What a tool in use tells next.
#[derive(Debug)]
pub enum ToolStep {
    /// How far it is.
    Progress(ToolProgress),
    /// It has ended; nothing comes after this.
    Ended(Result<ToolCallResult, Error>),
}
