//! Answers what a runtime asks of tools.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::relay::{
    self as wire, ApprovalPolicy, DeviceCapabilities, EventFrame, Family, MethodInfo, RawJson, RelayAccepted,
    RelayContext, RelayError, RelayErrorCode, RelayEvent, Request, ToolName,
    method::{self, RelayMethod},
    tool::{CallTool, ToolDescriptor, ToolList, ToolProgress, ToolsRegistered, UnregisterTools},
};
use relay::{Ask, Peer, Reply};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{
    Shelf, outcome,
    shelf::Placed,
    tool::{Use, cancelled},
};
use crate::{Look, Provider, Subject, Visit};

/// How many uses of tools go on at a time: each may be a process.
const USES_MAX: usize = 32;

/// How many reports of progress wait for the other side to take them; further ones are skipped.
const PROGRESS_QUEUE_MAX: usize = 16;

/// The longest name of a use.
const CALL_ID_BYTES_MAX: usize = 256;

/// Answers what a runtime asks of the tools of a device.
pub struct Tools {
    shelf: Shelf,
    uses: Uses,
    room: Semaphore,
}

impl Tools {
    /// Lends what is on the shelf.
    pub fn new(shelf: Shelf) -> Self {
        Self { shelf, uses: Uses::default(), room: Semaphore::new(USES_MAX) }
    }

    /// The tool that is to be used, if it is there and these are arguments of it.
    fn find(&self, call: &CallTool) -> Result<Arc<Placed>, RelayError> {
        let placed = self.shelf.find(&call.name).ok_or_else(|| {
            RelayError::new(RelayErrorCode::NotFound, "the device has no such tool")
                .with("tool", call.name.as_str())
        })?;
        let fit = placed.schema.check(&call.arguments);
        fit.map_err(|violation| violation.with("tool", call.name.as_str()))?;
        Ok(placed)
    }

    async fn call(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        let cancel = &reply.token().clone();
        let call = method::ToolCall::params(&request.params)?;
        let placed = self.find(&call)?;
        let Ok(_room) = self.room.try_acquire() else {
            return Err(RelayError::new(
                RelayErrorCode::ProviderError,
                "too many tool calls are running; try again later",
            )
            .with("reason", "busy")
            .with("limit", USES_MAX));
        };
        // What the request may touch is between the relay server and the device.
        let context = request.context.map(|context| RelayContext { terms: None, ..context });
        let (progress, mut told) = mpsc::channel(PROGRESS_QUEUE_MAX);
        let mut answer = placed.tool.call(Use { arguments: call.arguments, context, progress }, cancel);
        let answer = loop {
            tokio::select! {
                Some(progress) = told.recv() => tell(reply, &progress).await,
                answer = &mut answer => break answer,
            }
        };
        while let Ok(progress) = told.try_recv() {
            tell(reply, &progress).await;
        }
        // Whatever came of it: it was cancelled, and that is what whoever asked expects to hear.
        if cancel.is_cancelled() && !matches!(&answer, Err(error) if error.code == RelayErrorCode::Cancelled)
        {
            return Err(cancelled());
        }
        outcome::bounded(&answer?)
    }
}

#[async_trait]
impl Provider for Tools {
    fn family(&self) -> Family {
        Family::Tools
    }

    fn offer(&self, capabilities: &mut DeviceCapabilities) {
        capabilities.tools =
            Some(wire::ToolCapability { enabled: true, tool_count: self.shelf.len() as u64 });
    }

    fn look(
        &self,
        row: &'static MethodInfo,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Look, RelayError> {
        if row.name != method::ToolCall::INFO.name {
            return Ok(Look::default());
        }
        let call = method::ToolCall::params(&request.params)?;
        let placed = self.find(&call)?;
        let approval = placed.descriptor.approval_policy;
        if approval == ApprovalPolicy::Block {
            return Ok(Look { approval, ..Look::default() });
        }
        let kept = match call.call_id {
            Some(id) => Some(self.uses.begin(request.context.as_ref(), id, cancel)?),
            None => None,
        };
        let subject = Some(subject(&placed));
        Ok(Look { approval, subject, kept: kept.map(|kept| Box::new(kept) as _) })
    }

    /// What the owner has agreed to is this tool, and no other that has its name now.
    fn holds(&self, request: &Request, look: &Look) -> bool {
        let Some(agreed) = &look.subject else { return true };
        let call = method::ToolCall::params(&request.params).ok();
        call.and_then(|call| self.shelf.find(&call.name)).is_some_and(|placed| subject(&placed) == *agreed)
    }

    async fn request(
        &self,
        row: &'static MethodInfo,
        request: Request,
        reply: &mut Reply,
        _: &Visit,
    ) -> Result<RawJson, RelayError> {
        match row.name {
            "tool.list" => Ok(RawJson::from_value(&ToolList::from_tools(&self.shelf.descriptors()))),
            "tool.call" => self.call(request, reply).await,
            "tool.cancel" => {
                let cancel = method::ToolCancel::params(&request.params)?;
                self.uses.cancel(request.context.as_ref(), &cancel.call_id);
                Ok(RawJson::empty())
            }
            _ => {
                Err(RelayError::new(RelayErrorCode::UnknownMethod, "unknown method").with("method", row.name))
            }
        }
    }

    /// Registers the tools with the relay server, and tells it whenever there are others.
    async fn speak(&self, peer: &Peer) {
        let accepted = peer.accepted().await.ok().and_then(|accepted| accepted.read::<RelayAccepted>().ok());
        if !accepted.is_some_and(|accepted| accepted.accepted_capabilities.contains(&Family::Tools)) {
            return;
        }
        let mut changes = self.shelf.follow();
        let mut told: Vec<ToolDescriptor> = Vec::new();
        loop {
            let now = changes.now();
            let gone: Vec<_> =
                told.iter().filter(|tool| !now.contains(tool)).map(|tool| tool.name.clone()).collect();
            let new: Vec<_> = now.iter().filter(|tool| !told.contains(tool)).cloned().collect();
            unregister(peer, gone).await;
            register(peer, &new).await;
            told = now;
            changes.next().await;
        }
    }
}

/// What the owner is asked about.
fn subject(placed: &Placed) -> Subject {
    Subject::Tool { name: placed.descriptor.name.clone(), fingerprint: placed.fingerprint.clone() }
}

/// Tells how far a tool is. If the request was cancelled, the tool notices it as well and ends soon.
async fn tell(reply: &mut Reply, progress: &ToolProgress) {
    let _ = reply.stream("progress", RawJson::from_value(progress)).await;
}

async fn unregister(peer: &Peer, names: Vec<ToolName>) {
    if names.is_empty() {
        return;
    }
    let gone = UnregisterTools { names };
    let ask = Ask::new(method::ToolUnregister::INFO.name, RawJson::from_value(&gone));
    // Who answers it tells the others.
    if let Err(error) = peer.request(ask).await.outcome().await {
        warn!(%error, "the hub does not support tool.unregister; sending an event instead");
        say(peer, &RelayEvent::ToolUnregistered(gone)).await;
    }
}

async fn register(peer: &Peer, tools: &[ToolDescriptor]) {
    if tools.is_empty() {
        return;
    }
    let list = ToolList::from_tools(tools);
    let ask = Ask::new(method::ToolRegister::INFO.name, RawJson::from_value(&list));
    let answer = peer.request(ask).await.outcome().await;
    match answer.and_then(|answer| method::ToolRegister::result(&answer)) {
        Ok(ToolsRegistered { registered, rejected }) => {
            info!(count = registered.len(), "registered tools");
            for rejected in rejected {
                warn!(tool = rejected.name, reason = rejected.reason, "the hub rejected a tool");
            }
        }
        Err(error) => {
            warn!(%error, "the hub does not support tool.register; sending an event instead");
            say(peer, &RelayEvent::ToolRegistered(list)).await;
        }
    }
}

async fn say(peer: &Peer, event: &RelayEvent) {
    let EventFrame { event, payload } = EventFrame::from(event);
    // If the connection is lost that is told elsewhere.
    let _ = peer.event(event, payload).await;
}

/// The uses of tools that have a name.
#[derive(Default, Clone)]
struct Uses(Arc<Mutex<HashMap<UseId, CancellationToken>>>);

/// The name of a use, which is that of one session only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct UseId {
    session: Option<String>,
    call: String,
}

/// A use that goes on, for as long as it is kept.
struct Going {
    uses: Uses,
    id: UseId,
}

impl Uses {
    fn begin(
        &self,
        context: Option<&RelayContext>,
        call: String,
        cancel: &CancellationToken,
    ) -> Result<Going, RelayError> {
        if call.len() > CALL_ID_BYTES_MAX {
            return Err(RelayError::new(RelayErrorCode::InvalidRequest, "`call_id` is too long")
                .with("limit", CALL_ID_BYTES_MAX)
                .with("actual", call.len()));
        }
        let id = UseId::new(context, call);
        let mut uses = self.0.lock();
        if uses.contains_key(&id) {
            return Err(RelayError::new(
                RelayErrorCode::InvalidRequest,
                "a call with this `call_id` is still running",
            ));
        }
        uses.insert(id.clone(), cancel.clone());
        Ok(Going { uses: self.clone(), id })
    }

    /// What is unknown or has ended is not there to be cancelled, as it is with a `cancel` frame.
    fn cancel(&self, context: Option<&RelayContext>, call: &str) {
        if let Some(cancel) = self.0.lock().get(&UseId::new(context, call.into())) {
            cancel.cancel();
        }
    }
}

impl UseId {
    fn new(context: Option<&RelayContext>, call: String) -> Self {
        Self { session: context.and_then(|context| context.session_id.clone()), call }
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.uses.0.lock().remove(&self.id);
    }
}
