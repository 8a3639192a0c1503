//! A request that is not sent yet.

use std::time::Duration;

use protocol::relay::{RawJson, RelayContext};

/// A request that is not sent yet.
#[derive(Debug, Clone)]
pub struct Ask {
    pub(crate) method: String,
    pub(crate) params: RawJson,
    pub(crate) context: Option<RelayContext>,
    pub(crate) timeout: Option<Duration>,
}

impl Ask {
    /// A request for a method.
    pub fn new(method: impl Into<String>, params: RawJson) -> Self {
        Self { method: method.into(), params, context: None, timeout: None }
    }

    /// Sets the run or tool call that it is for.
    #[must_use]
    pub fn context(mut self, context: RelayContext) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets the time from the request to its outcome after which it fails.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The method, parameters, context and timeout, for a [`Requester`](crate::Requester) that is not a connection.
    pub fn into_parts(self) -> (String, RawJson, Option<RelayContext>, Option<Duration>) {
        (self.method, self.params, self.context, self.timeout)
    }
}
