//! MCP servers of which tools are lent.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Config, ConfigError, Shelf, Variables, names, reach::Reach, server::Server};

/// The MCP servers of which tools are lent.
pub struct Servers(Vec<Server>);

impl Servers {
    /// The servers of a `tools.toml`. `env` is the environment of the device, of which a server gets what it is allowed. Names are
    /// kept for their tools from now on.
    ///
    /// # Errors
    /// If one makes no sense.
    pub fn new(config: &Config, env: &Variables, shelf: &Shelf) -> Result<Self, ConfigError> {
        let mut names = names::of(config)?;
        let servers = config.servers.iter().map(|(name, of)| {
            let named = names.remove(name).unwrap_or_default();
            let source = shelf.source(format!("mcp {name}"));
            shelf.keep(&source, named.iter().map(|named| named.name.clone()));
            Ok(Server {
                name: name.clone(),
                reach: Reach::of(name, of, config, env)?,
                named,
                wait: super::config::wait(of.timeout_ms),
                shelf: shelf.clone(),
                source,
            })
        });
        servers.collect::<Result<_, _>>().map(Self)
    }

    /// What their tools are called here, in the order of the servers.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().flat_map(|server| &server.named).map(|named| named.name.as_str()).collect()
    }

    /// Keeps the servers running and their tools on the shelf, until `stop`.
    pub async fn keep(self, stop: CancellationToken) {
        let mut servers: JoinSet<()> = JoinSet::new();
        for server in self.0 {
            servers.spawn(Arc::new(server).keep(stop.clone()));
        }
        while servers.join_next().await.is_some() {}
    }
}
