//! A request before it is made.

use std::time::Duration;

use protocol::relay::{RawJson, RelayContext};

/// A request before it is made.
#[derive(Debug, Clone)]
pub struct Ask {
    pub(crate) method: String,
    pub(crate) params: RawJson,
    pub(crate) context: Option<RelayContext>,
    pub(crate) timeout: Option<Duration>,
}

impl Ask {
    /// A request of a method.
    pub fn new(method: impl Into<String>, params: RawJson) -> Self {
        Self { method: method.into(), params, context: None, timeout: None }
    }

    /// What it is made for.
    #[must_use]
    pub fn context(mut self, context: RelayContext) -> Self {
        self.context = Some(context);
        self
    }

    /// How long it may take, from when it is made to its outcome.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What is asked.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// With what it is asked, for what, and how long it may take, for whoever answers in place of a connection.
    pub fn into_parts(self) -> (String, RawJson, Option<RelayContext>, Option<Duration>) {
        (self.method, self.params, self.context, self.timeout)
    }
}
