//! Ids of messages that the agent does not name.

/// Mints ids for messages that the agent does not name. They are unique in the session, because each process has its own
/// prefix.
#[derive(Debug)]
pub(crate) struct MessageIds {
    prefix: String,
    count: u64,
}

impl MessageIds {
    /// Starts to count the messages of the process `prefix`.
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.into(), count: 0 }
    }

    /// Mints the id of a new message.
    pub(crate) fn mint(&mut self) -> String {
        self.count += 1;
        format!("{}.{}", self.prefix, self.count)
    }
}
