//! What is left of a request that nobody waits for any more: it has its place until the device has answered, and
//! a command that it has started all the same is ended.

use futures_util::StreamExt;
use relay::Call;
use tokio::sync::OwnedSemaphorePermit;

use super::{Relay, environment::Place, starting::Starting, uses::Going};

/// What is left of a request.
pub(super) struct Aftermath {
    pub(super) call: Call,
    pub(super) starting: Option<Starting>,
    pub(super) held: Held,
}

/// What a request has for as long as the device works on it.
pub(super) struct Held {
    pub(super) _place: Place,
    pub(super) _at_device: OwnedSemaphorePermit,
    pub(super) _going: Option<Going>,
}

impl Aftermath {
    /// Cancels it, and returns when the device is done with it.
    pub(super) async fn run(self, relay: Relay) {
        let Self { mut call, mut starting, held: _held } = self;
        call.cancel();
        while let Some(part) = call.next().await {
            if let Some(starting) = &mut starting {
                starting.hear(&relay, &part);
            }
        }
        if let Some(command) = starting.and_then(|starting| starting.left(&relay)) {
            relay.end_command(command).await;
        }
    }
}
