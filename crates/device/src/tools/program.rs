//! A program on this machine that offers tools: the device is to it what a relay server is to the device.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::relay::{
    ConnectionSide, EventFrame, Family, Hello, RawJson, RelayAccepted, RelayError, RelayErrorCode, Request,
    ToolName,
    method::{self, MethodInfo, RelayMethod},
    tool::{CallTool, RejectedTool, ToolCallResult, ToolList, ToolsRegistered, ToolsUnregistered},
};
use relay::{Ask, Handler, Peer, Refused, Reply};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    shelf::{Offered, Shelf, Source},
    tool::{Tool, USE_WAIT_MAX, Use, cancelled, gone},
};

/// What a program asks of the device.
pub(crate) struct Program(Arc<Inner>);

struct Inner {
    shelf: Shelf,
    source: OnceLock<Source>,
    /// How it is asked; there is one once it is spoken to.
    peer: OnceLock<Peer>,
}

/// What takes the tools of a program away when it leaves.
pub(crate) struct Presence(Arc<Inner>);

impl Program {
    pub(crate) fn new(shelf: Shelf) -> (Self, Presence) {
        let inner = Arc::new(Inner { shelf, source: OnceLock::new(), peer: OnceLock::new() });
        (Self(Arc::clone(&inner)), Presence(inner))
    }

    fn register(&self, list: &ToolList) -> Result<ToolsRegistered, RelayError> {
        let (Some(source), Some(peer)) = (self.0.source.get(), self.0.peer.get()) else { return Err(gone()) };
        let (tools, mut rejected) = list.read();
        let mut offered: Vec<Offered> = Vec::new();
        for tool in tools {
            if tool.capability == Family::Tools {
                let used = OfProgram { peer: peer.clone(), name: tool.name.clone() };
                offered.push((tool, Arc::new(used)));
            } else {
                let reason = "its `capability` is not `tools`".into();
                rejected.push(RejectedTool { name: tool.name.into(), reason });
            }
        }
        let mut said = self.0.shelf.put(source, offered);
        said.rejected.extend(rejected);
        Ok(said)
    }
}

impl Presence {
    pub(crate) fn begin(&self, peer: Peer) {
        // It is begun once.
        let _ = self.0.peer.set(peer);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(source) = self.0.source.get() {
            self.0.shelf.clear(source);
        }
    }
}

#[async_trait]
impl Handler for Program {
    async fn hello(&self, hello: Hello) -> Result<Map<String, Value>, Refused> {
        let offer = hello.check().map_err(|error| Refused(error.to_string()))?;
        // By its name, so that what the owner has agreed to holds after a restart of it.
        let source = self.0.shelf.source(format!("program {}", offer.client_id));
        // A second hello does not come this far.
        let _ = self.0.source.set(source);
        let accepted = RelayAccepted {
            connection_id: "local".into(),
            accepted_capabilities: vec![Family::Tools],
            accepted_roots: None,
            server_time: Timestamp::now(),
            flow: None,
            extensions: Vec::new(),
        };
        RawJson::from_value(&accepted).read().map_err(|_| Refused("it could not be accepted".into()))
    }

    async fn request(&self, request: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        match request.method.as_str() {
            "tool.register" => self
                .register(&method::ToolRegister::params(&request.params)?)
                .map(|said| RawJson::from_value(&said)),
            "tool.unregister" => {
                let names = method::ToolUnregister::params(&request.params)?.names;
                let source = self.0.source.get().ok_or_else(gone)?;
                Ok(RawJson::from_value(&ToolsUnregistered {
                    unregistered: self.0.shelf.take(source, &names),
                }))
            }
            other => Err(refused(other)),
        }
    }

    fn event(&self, _: EventFrame) {}
}

fn refused(name: &str) -> RelayError {
    let (code, why) = match MethodInfo::find(name) {
        None => (RelayErrorCode::UnknownMethod, "unknown method"),
        Some(row) if row.requested_by == ConnectionSide::Runtime => {
            (RelayErrorCode::InvalidRequest, "only runtimes send this method")
        }
        Some(_) => (RelayErrorCode::CapabilityUnavailable, "this socket accepts tools only"),
    };
    RelayError::new(code, why).with("method", name)
}

/// A tool of a program.
struct OfProgram {
    peer: Peer,
    name: ToolName,
}

#[async_trait]
impl Tool for OfProgram {
    async fn call(&self, call: Use, cancel: &CancellationToken) -> Result<ToolCallResult, RelayError> {
        let params = CallTool { name: self.name.clone(), arguments: call.arguments, call_id: None };
        let mut ask = Ask::new(method::ToolCall::INFO.name, RawJson::from_value(&params)).within(wait());
        if let Some(context) = call.context {
            ask = ask.context(context);
        }
        let asked = async {
            // When it is dropped the program hears a `cancel`.
            let answer = self.peer.request(ask).await.outcome().await?;
            method::ToolCall::result(&answer)
        };
        let answer = tokio::select! {
            () = cancel.cancelled() => return Err(cancelled()),
            answer = asked => answer,
        };
        answer.map_err(|error| match error.code {
            RelayErrorCode::RelayDisconnected => gone(),
            // What the program says of itself is not what the relay says of the device.
            RelayErrorCode::UnknownMethod
            | RelayErrorCode::CapabilityUnavailable
            | RelayErrorCode::PermissionDenied => RelayError { code: RelayErrorCode::ProviderError, ..error },
            _ => error,
        })
    }
}

/// A program knows best how long it takes; who asks may stop waiting before.
fn wait() -> Duration {
    USE_WAIT_MAX
}
