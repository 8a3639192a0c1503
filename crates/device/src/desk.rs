//! Who answers for a device.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::future::join_all;
use protocol::relay::{
    ConnectionSide, DeviceCapabilities, EventFrame, Family, Hello, MethodInfo, PROTOCOL, PolicyDecision,
    RawJson, RelayError, RelayErrorCode, Request, Root,
};
use relay::{Handler, Peer, Refused, Reply};
use serde_json::{Map, Value};
use tokio::time::timeout;
use tracing::warn;

use crate::{Consent, Control, Ledger, Look, Provider, Usage, Visit};

/// How long everything may take to end: longer than commands have from TERM to KILL.
const END_MAX: Duration = Duration::from_secs(10);

/// Who answers for a device. A clone answers for the same.
#[derive(Clone, Default)]
pub struct Device(Arc<Parts>);

#[derive(Default)]
struct Parts {
    providers: Vec<Box<dyn Provider>>,
    control: Control,
    consent: Consent,
    usage: Usage,
    ledger: Option<Ledger>,
    /// What others know of its directories.
    roots: Vec<Root>,
}

impl Device {
    /// A device that lends this and nothing else, as far as its owner agrees.
    pub fn new(providers: Vec<Box<dyn Provider>>, consent: Consent) -> Self {
        Self::recording(providers, consent, None)
    }

    /// The same, with a record of everything that is asked of it.
    pub fn recording(providers: Vec<Box<dyn Provider>>, consent: Consent, ledger: Option<Ledger>) -> Self {
        let roots = roots(&providers);
        let (control, usage) = (Control::default(), Usage::default());
        providers.iter().for_each(|provider| provider.watch(&control));
        Self(Arc::new(Parts { providers, control, consent, usage, ledger, roots }))
    }

    /// What its owner says about it while it is lent.
    pub fn control(&self) -> &Control {
        &self.0.control
    }

    /// Who uses it, and what goes on.
    pub fn usage(&self) -> &Usage {
        &self.0.usage
    }

    /// Its record of everything that was asked of it.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.0.ledger.as_ref()
    }

    /// What its owner has agreed to.
    pub fn consent(&self) -> &Consent {
        &self.0.consent
    }

    /// Tells the other side of a connection what happens here, for as long as it holds.
    pub async fn speak(&self, peer: &Peer) {
        join_all(self.0.providers.iter().map(|provider| provider.speak(peer))).await;
        // A provider that has nothing more to say is there all the same.
        std::future::pending().await
    }

    /// What it lends now, as a hello says it.
    pub fn offer(&self) -> DeviceCapabilities {
        offer(&self.0.providers)
    }

    /// Ends it: returns when nothing is left of what was started, and its record is on the disk.
    pub async fn end(&self) {
        self.0.control.stop();
        let ends = join_all(self.0.providers.iter().map(|provider| provider.end()));
        if timeout(END_MAX, ends).await.is_err() {
            warn!("a command or tool call did not end within the grace period");
        }
        if let Some(ledger) = &self.0.ledger {
            ledger.close().await;
        }
    }

    /// Whether what is asked may be done, and who said so.
    async fn admit(
        &self,
        row: &'static MethodInfo,
        request: &Request,
        reply: &Reply,
    ) -> Result<Admitted<'_>, RelayError> {
        let provider = self.provider(row.family)?;
        self.0.control.check(row)?;
        let look = provider.look(row, request, reply.token())?;
        let asked = tokio::select! {
            () = reply.cancelled() => return Err(RelayError::new(RelayErrorCode::Cancelled, "the request was cancelled")),
            agreed = self.0.consent.check(row, request, &look) => agreed?,
        };
        // The owner may have had enough while they were asked.
        self.0.control.check(row)?;
        if !provider.holds(request, &look) {
            return Err(RelayError::new(
                RelayErrorCode::NotFound,
                "the target of this request no longer exists",
            )
            .with("method", row.name));
        }
        let decision = if asked { PolicyDecision::Approved } else { PolicyDecision::Allowed };
        Ok(Admitted { provider, decision, _look: look })
    }

    async fn answer(
        &self,
        request: Request,
        reply: &mut Reply,
        visit: &Visit,
    ) -> Result<RawJson, RelayError> {
        let row = asked(&request.method)?;
        let Admitted { provider, decision, _look } = self.admit(row, &request, reply).await?;
        visit.allowed(decision).await?;
        provider.request(row, request, reply, visit).await
    }

    fn provider(&self, family: Family) -> Result<&dyn Provider, RelayError> {
        let provider = self.0.providers.iter().find(|provider| provider.family() == family);
        provider.map(|provider| &**provider).ok_or_else(|| {
            RelayError::new(
                RelayErrorCode::CapabilityUnavailable,
                format!("this device does not offer {}", family.as_str()),
            )
            .with("capability", family.as_str())
        })
    }
}

/// Something may be done.
struct Admitted<'a> {
    provider: &'a dyn Provider,
    decision: PolicyDecision,
    /// What the provider made of it is good until it is answered.
    _look: Look,
}

#[async_trait]
impl Handler for Device {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("a device does not accept connections".into()))
    }

    async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        let Parts { usage, ledger, roots, .. } = &*self.0;
        let mut visit = Visit::begin(usage, ledger.as_ref(), roots, &request);
        let outcome = self.answer(request, reply, &visit).await;
        visit.ended(&outcome).await;
        outcome
    }

    fn event(&self, _: EventFrame) {}
}

/// The row of a method that a runtime may ask.
fn asked(method: &str) -> Result<&'static MethodInfo, RelayError> {
    let row = MethodInfo::find(method).ok_or_else(|| {
        RelayError::new(RelayErrorCode::UnknownMethod, "unknown method").with("method", method)
    })?;
    match row.requested_by {
        ConnectionSide::Runtime => Ok(row),
        ConnectionSide::Provider => {
            Err(RelayError::new(RelayErrorCode::InvalidRequest, "only devices send this method")
                .with("method", row.name))
        }
    }
}

fn offer(providers: &[Box<dyn Provider>]) -> DeviceCapabilities {
    let mut capabilities = DeviceCapabilities::default();
    for provider in providers {
        provider.offer(&mut capabilities);
    }
    capabilities
}

/// The directories that are lent. They do not change.
fn roots(providers: &[Box<dyn Provider>]) -> Vec<Root> {
    let hello = Hello {
        protocol: PROTOCOL.into(),
        client_id: "device".into(),
        client_kind: String::new(),
        client_version: String::new(),
        capabilities: offer(providers),
    };
    hello.check().map(|offer| offer.roots).unwrap_or_default()
}
