//! A message as a request sent it.

use protocol::{IdempotencyKey, sessions::SendMessageRequest};
use telemetry::SpanLink;

/// A message as a request sent it.
pub(crate) struct SentMessage {
    pub(crate) request: SendMessageRequest,
    pub(crate) key: Option<IdempotencyKey>,
    /// The span of the request, if spans are exported.
    pub(crate) sender: Option<SpanLink>,
}
