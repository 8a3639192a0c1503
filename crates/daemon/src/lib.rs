//! The daemon: agents, ACP instances, sessions, files, config and processes of one sandbox, over HTTP.
//!
//! Handlers parse, call one method and answer. What they call is in the crates below; here are routes, the
//! token and configuration. How connections are served is in `server`.

mod api;
mod app;
mod config;
mod fs;
mod gate;
mod join;
mod problem;
mod routes;
mod settings;
mod skills;
mod start;
mod store;

pub use api::document as openapi;
pub use config::{Access, Config, ConfigFile, InstallSection, InvalidConfig, Token};
pub use join::Join;
pub use server::CorsConfig;
pub use start::{Bound, Server, StartError};
