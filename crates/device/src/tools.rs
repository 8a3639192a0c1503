//! Tools that a device lends: what it can do beyond files and commands.
//!
//! A tool is a command of the owner's `tools.toml`, something that a program on this machine offers over a local socket
//! ([`ToolSocket`]), or a tool of an MCP server that the owner has selected ([`Servers`]). All of them lie on one [`Shelf`]; [`Tools`]
//! answers what a runtime asks of it.

mod command;
mod config;
mod content;
mod http;
mod mcp;
mod names;
mod outcome;
mod program;
mod provider;
mod reach;
mod server;
mod shelf;
mod socket;
mod stdio;
mod tool;
mod used;

pub use command::Variables;
pub use config::{Config, ConfigError};
pub use mcp::Servers;
pub use provider::Tools;
pub use shelf::{Shelf, TOOLS_BYTES_MAX, TOOLS_MAX};
pub use socket::ToolSocket;
