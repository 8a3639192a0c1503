//! Agents that are servers: one process for many sessions, spoken to over HTTP, with one stream of events.
//!
//! [`Servers`] starts a server when it is first used, and shares it among all who would start the same program with the
//! same arguments and environment. Each server has one owner task (`server`), which holds the process, reads its stream
//! and hands every event to every user by a bounded queue. When the server dies, all of its users are told, and the next
//! use starts another. A server that nobody uses is stopped after a while.

mod attached;
mod calls;
mod error;
mod server;
mod servers;

pub use attached::{Attached, Events, Gone, Said};
pub use calls::Calls;
pub use error::Error;
pub use servers::Servers;

#[cfg(test)]
mod tests;
