//! The daemon: agents, ACP instances, sessions, files, config and processes of one sandbox, over HTTP.
//!
//! Handlers parse, call one method and answer. What they call is in the crates below; here are routes, auth,
//! configuration and the server itself.

mod api;
mod app;
mod config;
mod extract;
mod fs;
mod gate;
mod intake;
mod problem;
mod routes;
mod server;
mod settings;
mod skills;
mod socket;
mod sockets;
mod sse;

mod store;

pub use api::document as openapi;
pub use config::{Access, Config, ConfigFile, CorsConfig, InstallSection, InvalidConfig, Token};
pub use server::{Bound, Server, StartError};
