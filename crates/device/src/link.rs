//! A connection to a hub that is kept.

use std::time::Duration;

use client::Client;
use jiff::Timestamp;
use protocol::relay::{
    ClientId, EventFrame, Hello, PROTOCOL, ProviderPauseChanged, RelayAccepted, RelayEvent,
};
use relay::{Limits, Lost, Peer, Side, Socket};
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{Device, Lending, Live, reconnect};

/// How long the hub may take to answer the call.
const CALL_MAX: Duration = Duration::from_secs(20);

/// How long the last words may take when a connection is ended from here, besides what goes on and has to end first.
const FAREWELL_MAX: Duration = Duration::from_secs(2);

/// A connection to a hub that is kept: made again whenever it is lost.
pub struct Link {
    /// The hub, with the token of this device.
    pub hub: Client,
    /// Which device this is.
    pub client_id: ClientId,
    /// Who answers.
    pub device: Device,
    /// How much of everything there may be.
    pub limits: Limits,
}

/// How a connection is, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// It is being made.
    #[default]
    Calling,
    /// It is there.
    Connected(Box<RelayAccepted>),
    /// It is not there, and will be tried again.
    Away {
        /// Why.
        reason: String,
    },
}

/// The hub will not have this device: trying again is of no use.
#[derive(Debug, thiserror::Error)]
pub enum Unwanted {
    /// Its token lets it in nowhere.
    #[error("the hub rejected this device's token; pair the device again with `tombolo device pair`")]
    NotLetIn(#[source] client::Error),
    /// What it says of itself makes no sense there, such as the protocol that it speaks.
    #[error("the hub rejected this device: {0}")]
    NotAccepted(String),
}

impl Link {
    /// Keeps the connection until `stop`, or until the owner ends what is lent.
    ///
    /// # Errors
    /// If the hub will not have this device.
    pub async fn keep(
        self,
        standing: watch::Sender<Standing>,
        stop: CancellationToken,
    ) -> Result<(), Unwanted> {
        let mut backoff = reconnect::backoff();
        while self.device.control().now() != Lending::Stopped {
            standing.send_replace(Standing::Calling);
            let reason = match stop.run_until_cancelled(self.call()).await {
                None => return Ok(()),
                Some(Ok(socket)) => {
                    let since = Instant::now();
                    let lost = self.hold(socket, &standing, &stop).await;
                    self.device.usage().connected(None);
                    if let (Standing::Calling, Some(why)) = (&*standing.borrow(), lost.refusal()) {
                        return Err(Unwanted::NotAccepted(why.to_owned()));
                    }
                    if since.elapsed() >= reconnect::STABLE_AFTER {
                        backoff.reset();
                    }
                    lost.to_string()
                }
                Some(Err(CallError::Hub(error))) if is_final(&error) => {
                    return Err(Unwanted::NotLetIn(error));
                }
                Some(Err(error)) => protocol::ErrorChain(&error).to_string(),
            };
            if stop.is_cancelled() {
                return Ok(());
            }
            warn!(reason, "lost the connection to the hub; reconnecting");
            standing.send_replace(Standing::Away { reason });
            let ended = async {
                let _ = self.device.control().follow().wait_for(|now| *now == Lending::Stopped).await;
            };
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = ended => {}
                () = backoff.wait() => {}
            }
        }
        Ok(())
    }

    async fn call(&self) -> Result<client::ClientWebSocket, CallError> {
        let called = timeout(CALL_MAX, self.hub.relay_connect(relay::config(&self.limits))).await;
        called.map_err(|_| CallError::Slow)?.map_err(CallError::Hub)
    }

    /// Answers until the connection is lost, or ended.
    async fn hold(
        &self,
        socket: client::ClientWebSocket,
        standing: &watch::Sender<Standing>,
        stop: &CancellationToken,
    ) -> Lost {
        let hello = Hello {
            protocol: PROTOCOL.into(),
            client_id: self.client_id.to_string(),
            client_kind: "headless".into(),
            client_version: env!("CARGO_PKG_VERSION").into(),
            capabilities: self.device.offer(),
        };
        let side = Side::Device(Box::new(hello));
        let (peer, driver) = Peer::start(Socket::new(socket), self.device.clone(), side, self.limits.clone());
        let mut driver = std::pin::pin!(driver);
        tokio::select! {
            lost = &mut driver => return lost,
            () = self.speak(&peer, standing) => peer.close("the device's owner has stopped it"),
            () = stop.cancelled() => peer.close("the device is shutting down"),
        }
        timeout(self.limits.cancel_wait_max + FAREWELL_MAX, driver).await.unwrap_or(Lost::Silent)
    }

    /// Tells what happens here, until the owner ends what is lent.
    async fn speak(&self, peer: &Peer, standing: &watch::Sender<Standing>) {
        // If it is never accepted the connection ends, and tells why.
        let Ok(accepted) = peer.accepted().await else { return std::future::pending().await };
        match accepted.read::<RelayAccepted>() {
            Ok(accepted) => {
                info!(connection = accepted.connection_id, "connected to the hub");
                let (accepted_now, peer) = (accepted.clone(), peer.clone());
                let live = Live { accepted: accepted_now, since: Timestamp::now(), peer };
                self.device.usage().connected(Some(live));
                standing.send_replace(Standing::Connected(Box::new(accepted)));
            }
            Err(error) => warn!(%error, "could not parse the hub's `accepted` message"),
        }
        tokio::select! {
            () = self.tell_lending(peer) => {}
            () = self.device.speak(peer) => {}
        }
    }

    /// Tells whether the device does what it is asked, until its owner ends that.
    async fn tell_lending(&self, peer: &Peer) {
        let mut lending = self.device.control().follow();
        let mut paused = false;
        loop {
            let now = lending.borrow_and_update().clone();
            let event = match now {
                Lending::Stopped => return,
                Lending::Paused { reason } => {
                    Some(RelayEvent::ProviderPaused(ProviderPauseChanged { reason }))
                }
                Lending::Active => {
                    paused.then(|| RelayEvent::ProviderResumed(ProviderPauseChanged::default()))
                }
            };
            if let Some(event) = event {
                paused = matches!(event, RelayEvent::ProviderPaused(_));
                let EventFrame { event, payload } = EventFrame::from(&event);
                // If the connection is lost that is told elsewhere.
                let _ = peer.event(event, payload).await;
            }
            // The device is here, so its control is.
            let _ = lending.changed().await;
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("the hub did not answer within {} s", CALL_MAX.as_secs())]
    Slow,
    #[error(transparent)]
    Hub(client::Error),
}

/// Whether the hub said no, and will say so again: a token that is no good does not become better.
fn is_final(error: &client::Error) -> bool {
    matches!(error, client::Error::Problem(refusal) if matches!(refusal.status, 401 | 403))
}
