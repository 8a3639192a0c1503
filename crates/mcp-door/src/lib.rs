//! A device as MCP tools: any agent that knows MCP can use what an environment has of it.
//!
//! A [`Door`] belongs to one environment and answers the requests of the streamable HTTP transport, of clients of the
//! revision of 2026-07-28, which need no session, and of those before it. Whoever mounts it says who may come in.

mod answer;
mod catalog;
mod door;
mod output;
mod server;
mod sessions;
mod tools;

pub use door::{Door, DoorError};
