//! A session's access to a device, for agents and SDKs: files, commands, tools and resources, each as requests of the relay. Paths are
//! virtual, as a model sees them; only the device knows the real ones.

mod binding;
mod error;
mod files;
mod resources;
mod shell;
mod tools;

use std::{sync::Arc, time::Duration};

use protocol::relay::{
    Binding, EventFrame, RawJson, RelayContext, RelayError, RelayErrorCode, RelayEvent, RelayMethod,
};

pub use binding::Place;
pub use error::Error;
pub use files::{
    Dir, FileOperator, Files, Found, READ_BYTES_MAX, Search, Seen, Span, WALK_ENTRIES_MAX, Writing,
};
pub use resources::{ResourceRegistry, Resources};
pub use shell::{Command, Commands, Output, Pipe, Said, Shell, split};
pub use tools::{ToolStep, ToolUse, Tools, Toolset};

use crate::{Ask, Call, Requester};

/// A session's access to a device. It is cheap to clone, and all clones use the same device.
#[derive(Clone)]
pub struct Environment {
    shared: Arc<Shared>,
    context: Option<RelayContext>,
}

struct Shared {
    binding: Binding,
    requester: Box<dyn Requester>,
    tools: tools::Known,
}

impl Environment {
    /// An environment with the access of `binding`, whose requests go to `requester`.
    pub fn new(binding: Binding, requester: impl Requester + 'static) -> Self {
        let shared = Shared { binding, requester: Box::new(requester), tools: tools::Known::default() };
        Self { shared: Arc::new(shared), context: None }
    }

    /// The same environment for a run or a tool call, which its requests then name.
    #[must_use]
    pub fn with_context(&self, context: RelayContext) -> Self {
        Self { shared: self.shared.clone(), context: Some(context) }
    }

    /// The run or tool call that its requests name.
    pub fn context(&self) -> Option<&RelayContext> {
        self.context.as_ref()
    }

    /// Its access.
    pub fn binding(&self) -> &Binding {
        &self.shared.binding
    }

    /// Its files.
    pub fn files(&self) -> Files {
        Files(self.clone())
    }

    /// Its commands.
    pub fn shell(&self) -> Commands {
        Commands(self.clone())
    }

    /// The tools of the device.
    pub fn tools(&self) -> Tools {
        Tools(self.clone())
    }

    /// Its resources.
    pub fn resources(&self) -> Resources {
        Resources(self.clone())
    }

    /// Handles an event of the device, so that the toolset stays current. The owner of the connection calls it.
    pub fn heard(&self, event: &EventFrame) {
        // An event that is invalid or unknown is ignored.
        match event.read() {
            Ok(Some(RelayEvent::ToolRegistered(tools))) => self.shared.tools.add(&tools),
            Ok(Some(RelayEvent::ToolUnregistered(gone))) => self.shared.tools.remove(&gone.names),
            _ => {}
        }
    }

    /// Whether to request file contents as binary messages.
    fn takes_bytes(&self) -> bool {
        self.shared.requester.takes_bytes()
    }

    /// Sends a request to the device, if the environment includes its capability.
    async fn start<M: RelayMethod>(&self, params: &M::Params, within: Option<Duration>) -> Call {
        if !self.binding().capabilities.contains(&M::INFO.family) {
            let error = RelayError::new(
                RelayErrorCode::CapabilityUnavailable,
                "the environment does not include this capability",
            );
            return Call::refused(error.with("capability", M::INFO.family.as_str()));
        }
        let mut ask = Ask::new(M::INFO.name, RawJson::from_value(params));
        if let Some(context) = &self.context {
            ask = ask.context(context.clone());
        }
        if let Some(within) = within {
            ask = ask.within(within);
        }
        self.shared.requester.request(ask).await
    }

    async fn ask<M: RelayMethod>(&self, params: &M::Params) -> Result<M::Result, RelayError> {
        M::result(&self.start::<M>(params, None).await.outcome().await?)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("client_id", &self.binding().client_id).finish_non_exhaustive()
    }
}
