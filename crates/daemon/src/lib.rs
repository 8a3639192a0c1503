//! The daemon: agents, ACP instances, sessions, files, config and processes of one sandbox, over HTTP.
//!
//! A handler parses the request, calls one method of a service crate, and responds. This crate has the routes, the access
//! check and the configuration; connections are served by `server`.

mod access;
mod api;
mod api_error;
mod app;
mod config;
mod config_store;
mod daemon_server;
mod daemon_settings;
mod directory_settings;
mod file_transfer;
mod hub_join;
mod routes;
mod skills;

pub use api::generate_openapi;
pub use config::{Config, DaemonAccess, DaemonToken, InvalidConfig};
pub use daemon_server::{BoundDaemon, DaemonServer, StartError};
pub use daemon_settings::{DEFAULT_PORT, DaemonSettings};
pub use hub_join::HubJoin;
