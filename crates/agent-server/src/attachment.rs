//! A session's use of a server.

use tokio::sync::oneshot;

use crate::{Error, ServerClient, ServerEvents};

/// A session's use of a server. It ends when its [`ServerEvents`] are dropped.
#[derive(Debug)]
pub struct ServerAttachment {
    /// The server's events from now on.
    pub events: ServerEvents,
    /// Sends requests to the server.
    pub client: ServerClient,
    /// The id of the server's process.
    pub pid: u32,
}

/// Asks the owner of a server for an attachment.
pub(crate) type AttachRequest = oneshot::Sender<Result<ServerAttachment, Error>>;
