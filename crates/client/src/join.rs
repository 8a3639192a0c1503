//! `/api/join`: a daemon that comes to its hub.

use protocol::RuntimeId;
use reqwest::Method;

use crate::{Client, Result, WebSocket, handshake};

impl Client {
    /// Joins the hub, which from then on asks over this WebSocket; the token says as which runtime, and `name`, if there is
    /// one, must be the same.
    pub async fn join(&self, name: Option<&RuntimeId>) -> Result<WebSocket> {
        let request = self.request(Method::GET, &["api", "join", "ws"]);
        handshake::open(request.query(&[("name", name.map(RuntimeId::as_str))])).await
    }
}
