//! The hub: many runtimes, watched and driven from anywhere, without handing out their keys.
//!
//! A runtime's workers are watched once, however many people watch: each has a feed that follows it, keeps what it
//! has come to and the last of what happened, and shows both to whoever comes. What people get is the hub's own: its
//! cursors, its envelopes, its diagnostics. Nothing of it tells where a runtime is or how it is spoken to.

mod api;
mod app;
mod caller;
mod config;
mod feed;
mod feeds;
mod metrics;
mod private;
mod reach;
mod registry;
mod routes;
mod runtime;
mod seal;
mod start;
mod tokens;
mod watch;

pub use api::document as openapi;
pub use config::Config;
pub use feed::BACKLOG;
pub use feeds::{Feeds, TooMany};
pub use registry::{Registered, Registry, RegistryError};
pub use runtime::{Down, Remote, Runtime, Upstream};
pub use seal::Key;
pub use start::{Hub, StartError};
pub use tokens::NewToken;
pub use watch::Watch;
