//! Sessions over Amp's stream of JSON.

use protocol::sessions::AgentError;

use super::{Adapted, Options, unsupported};

pub(super) fn adapt(_options: &Options) -> Result<Adapted, AgentError> {
    Err(unsupported("sessions", "no session can be held in this protocol yet"))
}
