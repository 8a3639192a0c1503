//! `/api/devices/pairings`: a device that wants to be let in.

use protocol::lending::{PairingClaim, PairingStarted, StartPairingRequest};
use reqwest::Method;

use crate::{Answer, Devices, Result};

/// The route of pairings.
const PAIRINGS: [&str; 3] = ["api", "devices", "pairings"];

impl Devices<'_> {
    /// Wants to be let in; the answer has the code that is to be confirmed. No token is needed.
    pub async fn begin_pairing(self, begin: &StartPairingRequest) -> Result<Answer<PairingStarted>> {
        self.0.tell(Method::POST, &PAIRINGS, &[], begin).await
    }

    /// Whether it is let in by now. The token of this client is the secret that it was answered at the beginning.
    pub async fn claim(self) -> Result<Answer<PairingClaim>> {
        let [api, devices, pairings] = PAIRINGS;
        self.0.ask(Method::POST, &[api, devices, pairings, "claim"], &[]).await
    }
}
