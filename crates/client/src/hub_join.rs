//! `/api/join`: lets a daemon join a hub.

use protocol::{RuntimeId, hub::DAEMON_ID};
use reqwest::Method;

use crate::{Client, ClientWebSocket, Result, websocket_handshake};

impl Client {
    /// Joins the hub, which then sends its requests over this WebSocket. The token determines the runtime; `name`, if given,
    /// must match.
    ///
    /// `daemon_id` tells the hub that it is the same daemon each time.
    pub async fn join(&self, name: Option<&RuntimeId>, daemon_id: &str) -> Result<ClientWebSocket> {
        let request = self.request(Method::GET, &["api", "join", "ws"]).header(DAEMON_ID, daemon_id);
        websocket_handshake::open(request.query(&[("name", name.map(RuntimeId::as_str))])).await
    }
}
