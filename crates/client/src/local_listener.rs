//! Finds a server of this machine again before each connection.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves every name to the address on which a server listens now. A client asks before each new connection, so that it never
/// connects to another server that took the address in the meantime.
pub(crate) struct LocalListener<F>(pub(crate) F);

impl<F: Fn() -> Option<SocketAddr> + Send + Sync> Resolve for LocalListener<F> {
    fn resolve(&self, _: Name) -> Resolving {
        let address = (self.0)().ok_or_else(|| "the server no longer listens on its address".into());
        let addresses = address.map(|address| Box::new(std::iter::once(address)) as Addrs);
        Box::pin(std::future::ready(addresses))
    }
}
