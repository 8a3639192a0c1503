//! The last Amp that talked to the model itself, behind an ACP adapter.

use std::path::Path;

use super::{Endpoint, Setup};

/// Everything is in the environment.
pub fn amp(_home: &Path, endpoint: Endpoint<'_>) -> Setup {
    Setup::new([("AMP_URL", endpoint.url), ("AMP_API_KEY", endpoint.key), ("AMP_SKIP_UPDATE_CHECK", "1")])
}
