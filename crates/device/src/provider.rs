//! What a device lends of one family.

use std::any::Any;

use async_trait::async_trait;
use protocol::relay::{ApprovalPolicy, DeviceCapabilities, Family, MethodInfo, RawJson, RelayError, Request};
use relay::{Peer, Reply};
use tokio_util::sync::CancellationToken;

use crate::{Control, Subject, Visit};

/// What a device lends of one family.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Which.
    fn family(&self) -> Family;

    /// Says in a hello what there is of it now.
    fn offer(&self, capabilities: &mut DeviceCapabilities);

    /// What the owner says about the device from now on, for a provider whose work outlives its requests.
    fn watch(&self, _: &Control) {}

    /// Looks at a request before anybody is asked about it: what it makes of it besides the owner's rules. Whoever cancels
    /// `cancel` cancels the request.
    ///
    /// # Errors
    /// If it is of no use to ask.
    fn look(
        &self,
        row: &'static MethodInfo,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<Look, RelayError> {
        let _ = (row, request, cancel);
        Ok(Look::default())
    }

    /// Whether what it made of a request still holds, as asking the owner may have taken a while.
    fn holds(&self, request: &Request, look: &Look) -> bool {
        let _ = (request, look);
        true
    }

    /// Returns when nothing is left of what it started. Nothing is asked of it any more.
    async fn end(&self) {}

    /// Answers a request of its family, which a runtime may ask. When the request is cancelled ([`Reply::cancelled`]) it ends
    /// soon, and only after what was started is gone. What goes on when it was answered is told to `visit`.
    ///
    /// # Errors
    /// What the other side is to hear: never a path of this machine, a token or a value of the environment.
    async fn request(
        &self,
        row: &'static MethodInfo,
        request: Request,
        reply: &mut Reply,
        visit: &Visit,
    ) -> Result<RawJson, RelayError>;

    /// Tells the other side what happens here, for as long as the connection holds. It is begun once the device is accepted,
    /// anew on each connection, and is dropped with it.
    async fn speak(&self, peer: &Peer) {
        let _ = peer;
        std::future::pending().await
    }
}

/// What a provider makes of a request before it is answered.
pub struct Look {
    /// Who must be asked before, as far as the provider is concerned.
    pub approval: ApprovalPolicy,
    /// What exactly is used: what the owner agrees to for more than once is for this.
    pub subject: Option<Subject>,
    /// Kept until the request is answered.
    pub kept: Option<Box<dyn Any + Send + Sync>>,
}

impl Default for Look {
    fn default() -> Self {
        Self { approval: ApprovalPolicy::Allow, subject: None, kept: None }
    }
}
