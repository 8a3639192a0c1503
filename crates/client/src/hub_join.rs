//! `/api/join`: lets a daemon join a hub.

use protocol::RuntimeId;
use reqwest::Method;

use crate::{Client, ClientWebSocket, Result, websocket_handshake};

impl Client {
    /// Joins the hub, which then sends its requests over this WebSocket. The token determines the runtime; `name`, if given,
    /// must match.
    pub async fn join(&self, name: Option<&RuntimeId>) -> Result<ClientWebSocket> {
        let request = self.request(Method::GET, &["api", "join", "ws"]);
        websocket_handshake::open(request.query(&[("name", name.map(RuntimeId::as_str))])).await
    }
}
