//! Serves an environment of a device as MCP tools, for any agent that supports MCP.
//!
//! A [`Door`] belongs to one environment and answers requests of the streamable HTTP transport, from clients of the
//! revision of 2026-07-28, which need no session, and of earlier revisions. Its caller authorises the requests.

mod answer;
mod catalog;
mod door;
mod output;
mod server;
mod sessions;
mod tools;

pub use door::{Door, DoorError};
