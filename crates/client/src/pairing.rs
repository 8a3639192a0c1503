//! `/api/devices/pairings`: pairs a device with a hub, from the side of the device.

use protocol::lending::{PairingClaim, PairingStarted, StartPairingRequest};
use reqwest::Method;

use crate::{ApiResponse, DevicesApi, Result};

/// The route of pairings.
const PAIRINGS: [&str; 3] = ["api", "devices", "pairings"];

impl DevicesApi<'_> {
    /// Starts a pairing. The response has the code that a user confirms. Needs no token.
    pub async fn begin_pairing(self, begin: &StartPairingRequest) -> Result<ApiResponse<PairingStarted>> {
        self.0.call_with_body(Method::POST, &PAIRINGS, &[], begin).await
    }

    /// Reads whether the pairing was confirmed. The token of this client must be the secret from the start of the pairing.
    pub async fn claim(self) -> Result<ApiResponse<PairingClaim>> {
        let [api, devices, pairings] = PAIRINGS;
        self.0.call(Method::POST, &[api, devices, pairings, "claim"], &[]).await
    }
}
