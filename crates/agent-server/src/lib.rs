//! Agents that are servers: one process for many sessions, with requests over HTTP and one stream of events.
//!
//! [`AgentServers`] starts a server when a session first needs it, and shares it among all sessions that would start the same
//! program with the same arguments and environment. Each server has one owner task (`server_owner`), which holds the process,
//! reads its event stream and passes every event to every attachment through a bounded queue. When a server dies, all of its
//! attachments get the reason, and the next use starts another. A server without attachments is stopped after a grace period.

mod agent_servers;
mod attachment;
mod error;
mod running_server;
mod server_client;
mod server_events;
mod server_key;
mod server_owner;

pub use agent_servers::AgentServers;
pub use attachment::ServerAttachment;
pub use error::Error;
pub use server_client::ServerClient;
pub use server_events::{DetachReason, ServerEvent, ServerEvents};

#[cfg(test)]
mod tests;
