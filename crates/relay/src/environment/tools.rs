//! The tools of a device, as an agent has them.

mod known;

use async_trait::async_trait;
use protocol::relay::{
    RelayError, RelayErrorCode, ToolName,
    method::{EmptyObject, ToolCall, ToolList},
    tool::{CallTool, ToolCallResult, ToolDescriptor},
};
use serde_json::{Map, Value};
use tokio::sync::watch;

pub(super) use known::Known;

use super::{Environment, Error};

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
        self.list().await?;
        let Some(schema) = self.known().schema(name) else {
            return Err(RelayError::new(RelayErrorCode::NotFound, "the device has no such tool")
                .with("tool", name.as_str())
                .into());
        };
        schema.check(&arguments).map_err(|error| Error::Arguments { tool: name.clone(), error })?;
        let params = CallTool { name: name.clone(), arguments, call_id: None };
        Ok(self.0.ask::<ToolCall>(&params).await?)
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.known().changes()
    }
}
