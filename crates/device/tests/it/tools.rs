//! Tools: commands, those of programs on a local socket, and those of MCP servers.

mod announcements;
mod commands;
mod config;
mod consent;
mod hostile;
mod mcp;
mod mcp_server;
mod programs;
mod support;
