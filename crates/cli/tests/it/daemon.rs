//! The daemon around its instances: HTTP in general, agents, files, config.

mod agents;
mod config;
mod fs;
mod http;
mod install;
mod killed;
mod packages;
pub(crate) mod private;
mod token;
